import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../../machines/protocol/api-types.ts';
import { pod } from '../pod/pod-world.ts';
import { box, fails, told } from './told-world.ts';
import type { ToldWorld } from './told-world.ts';

const limited = (cpu: string, over: Partial<Container> = {}): Container =>
  box('c', { resources: { limits: { cpu } }, ...over });
const QUOTA = /^(the pod|c) may use 10m of a CPU \(limits\.cpu\), and so may .*: 0\.1 s of work takes 10 s$/;

/** What is said of the quota after so many ms. */
function said(containers: Container[], ms: number, prepare: (world: ToldWorld) => void = () => undefined): string[] {
  const world = told(pod({ containers }), prepare);
  world.run(ms);
  const { causes } = world.explain();
  return causes.map(({ text }) => text).filter((text) => text.includes('of a CPU'));
}

test('a sandbox that takes long: the CPU limit of the pod, if it is small', () => {
  const hangs = (world: ToldWorld): unknown => (world.answers['cri.RunPodSandbox'] = () => 'hang');
  const [text = ''] = said([limited('10m')], 5_000, hangs);
  assert.match(text, QUOTA);
  assert.match(text, /^the pod/);
  assert.deepEqual(said([limited('10m')], 1_500, hangs), [], 'not while it is quick');
  assert.deepEqual(said([limited('100m')], 5_000, hangs), [], 'not of a limit that is enough');
  assert.deepEqual(
    said([limited('10m'), box('free')], 5_000, hangs),
    [],
    'the pod has none where a container has none',
  );
});

test('a start, a hook and a probe by command: the limit of the container', () => {
  const free = box('free');
  const hook = { exec: { command: ['h'] } };
  const probe = { exec: { command: ['p'] }, periodSeconds: 2, timeoutSeconds: 1 };
  const starts = (world: ToldWorld): unknown => (world.answers['cri.StartContainer'] = () => 'hang');
  const hooks = (world: ToldWorld): unknown => (world.answers['cri.ExecSync'] = () => 'hang');
  const times = (world: ToldWorld): unknown => (world.answers['cri.ExecSync'] = fails('timed out', 'DeadlineExceeded'));
  const cases: [Container, number, (world: ToldWorld) => unknown][] = [
    [limited('10m'), 5_000, starts],
    [limited('10m', { lifecycle: { postStart: hook } }), 5_000, hooks],
    [limited('10m', { readinessProbe: probe }), 20_000, times],
    [limited('10m'), 5_000, (world) => (world.answers['cri.StartContainer'] = fails('timed out'))],
  ];
  for (const [container, ms, prepare] of cases) {
    const [text = '', ...more] = said([container, free], ms, prepare);
    assert.match(text, QUOTA);
    assert.match(text, /^c /);
    assert.deepEqual(more, []);
  }
  const http = { httpGet: { port: 80 }, periodSeconds: 2 };
  assert.deepEqual(
    said([limited('10m', { readinessProbe: http }), free], 20_000, times),
    [],
    'a request needs no process',
  );
  assert.deepEqual(said([limited('10m')], 20_000), [], 'nothing is waited for');
});
