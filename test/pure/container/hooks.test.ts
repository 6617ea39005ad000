import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../../machines/protocol/api-types.ts';
import { ContainerBench, find, reasons, seen } from './container-bench.ts';

type Lifecycle = NonNullable<Container['lifecycle']>;
const exec = { exec: { command: ['do'] } };
const http = { httpGet: { port: 80 as unknown as string, path: '/x' } };
const broken = { httpGet: { port: 'nowhere' } };

function atPostStart(lifecycle: Lifecycle): ContainerBench {
  const bench = new ContainerBench({ lifecycle }).to('starting.started');
  bench.over.observed = seen();
  bench.done('cri.StartContainer', {});
  assert.equal(bench.state, 'starting.postStart');
  return bench;
}
function atPreStop(lifecycle: Lifecycle, grace = 30, waitTurn = false): ContainerBench {
  const bench = new ContainerBench({ lifecycle }).to('running');
  bench.kill(grace, { waitTurn });
  return bench;
}

test('postStart exec: the container is running once the command ended well', () => {
  const bench = atPostStart({ postStart: exec });
  assert.deepEqual(find(bench.effects, 'cri.ExecSync'), { containerId: 'c1', cmd: ['do'], timeoutSeconds: 0 });
  bench.done('cri.ExecSync', { exitCode: 0, output: '' });
  assert.equal(bench.state, 'running');
  assert.equal(bench.context.postStartDone, 'c1');
});

test('postStart httpGet: any answer is good', () => {
  const bench = atPostStart({ postStart: http });
  assert.equal(find(bench.effects, 'net.HttpGet').host, '10.88.0.2');
  bench.done('net.HttpGet', { status: 500, body: '' });
  assert.equal(bench.state, 'running');
});

for (const seconds of [0, 3]) {
  test(`postStart sleep ${seconds}: the container is running after the pause`, () => {
    const bench = atPostStart({ postStart: { sleep: { seconds } } });
    assert.equal(bench.context.deadline, bench.at + seconds * 1000);
    bench.ring();
    assert.equal(bench.state, 'running');
  });
}

const WHOSE = 'for Container "c" in Pod "web-node1_default(u1)" failed - error:';
const failing: [string, Lifecycle, (bench: ContainerBench) => unknown, string][] = [
  [
    ...(['exec ends with 1', { postStart: exec }] as const),
    (b) => b.done('cri.ExecSync', { exitCode: 1, output: 'a "no"\nwhy ✗\n', stderr: 'why ✗\n' }),
    `Exec lifecycle hook ([do]) ${WHOSE} command 'do' exited with 1: why ✗\n, message: "a \\"no\\"\\nwhy ✗\\n"`,
  ],
  [
    ...(['exec call fails', { postStart: exec }] as const),
    (b) => b.failed('cri.ExecSync', 'Unknown', 'x'),
    `Exec lifecycle hook ([do]) ${WHOSE} rpc error: code = Unknown desc = x, message: ""`,
  ],
  [
    ...(['httpGet fails', { postStart: http }] as const),
    (b) => b.failed('net.HttpGet', 'ECONNREFUSED', 'x'),
    `HTTP lifecycle hook (/x) ${WHOSE} x`,
  ],
  [
    ...(['httpGet is sent round in circles', { postStart: http }] as const),
    (b) => b.failed('net.HttpGet', 'Http', 'Get "/x": stopped after 10 redirects'),
    `HTTP lifecycle hook (/x) ${WHOSE} Get "/x": stopped after 10 redirects`,
  ],
  [
    ...(['httpGet names no port', { postStart: broken }] as const),
    (b) => b.ring(),
    `HTTP lifecycle hook () ${WHOSE} strconv.Atoi: parsing "nowhere": invalid syntax`,
  ],
];
for (const [name, lifecycle, fail, message] of failing) {
  test(`postStart, ${name}: FailedPostStartHook, the container is killed`, () => {
    const bench = atPostStart(lifecycle);
    bench.effects = [];
    fail(bench);
    assert.equal(bench.state, 'stopping.killing');
    assert.deepEqual(reasons(bench.effects), ['FailedPostStartHook', 'Killing']);
    assert.equal(find(bench.effects, 'cri.StopContainer').timeoutSeconds, 30);
    assert.deepEqual(bench.context.waiting, { reason: 'PostStartHookError', message });
  });
}

test('a failed postStart hook runs the preStop hook first, as every kill does', () => {
  const bench = atPostStart({ postStart: exec, preStop: exec });
  bench.done('cri.ExecSync', { exitCode: 1, output: '' });
  assert.equal(bench.state, 'stopping.preStop');
  bench.done('cri.ExecSync', { exitCode: 0, output: '' });
  assert.equal(bench.state, 'stopping.killing');
});

test('a container that ends during its postStart hook has ended', () => {
  const bench = atPostStart({ postStart: exec });
  bench.ended();
  assert.equal(bench.state, 'exited');
  assert.deepEqual(bench.done('cri.ExecSync', { exitCode: 0, output: '' }, 'container/c/5'), []);
  assert.equal(bench.state, 'exited');
});

test('preStop exec within the grace period; StopContainer gets what is left of it', () => {
  const bench = atPreStop({ preStop: exec });
  assert.equal(bench.state, 'stopping.preStop');
  assert.equal(find(bench.effects, 'cri.ExecSync').timeoutSeconds, 0, 'the container is the limit, not the call');
  bench.at += 12_300;
  const effects = bench.done('cri.ExecSync', { exitCode: 0, output: '' });
  assert.equal(find(effects, 'cri.StopContainer').timeoutSeconds, 18);
  assert.equal(bench.context.preStopDone, 'c1');
});

const preStopFailures: [string, (bench: ContainerBench) => unknown][] = [
  ['the command ends with 3', (b) => b.done('cri.ExecSync', { exitCode: 3, output: '' })],
  ['the call fails', (b) => b.failed('cri.ExecSync', 'Unknown', 'x')],
];
for (const [name, fail] of preStopFailures) {
  test(`preStop, ${name}: FailedPreStopHook, the kill goes on`, () => {
    const bench = atPreStop({ preStop: exec });
    bench.effects = [];
    fail(bench);
    assert.equal(bench.state, 'stopping.killing');
    assert.deepEqual(reasons(bench.effects), ['FailedPreStopHook']);
  });
}

test('preStop that names no port: FailedPreStopHook, the kill goes on at once', () => {
  const bench = atPreStop({ preStop: broken });
  assert.ok(reasons(bench.effects).includes('FailedPreStopHook'));
  bench.ring();
  assert.equal(bench.state, 'stopping.killing');
  assert.equal(bench.context.deadline, null);
});

test('preStop httpGet and sleep', () => {
  const asked = atPreStop({ preStop: http });
  assert.equal(find(asked.effects, 'net.HttpGet').timeoutMs, 32_000);
  asked.done('net.HttpGet', { status: 404, body: '' });
  assert.equal(asked.state, 'stopping.killing');
  const slept = atPreStop({ preStop: { sleep: { seconds: 5 } } });
  const from = slept.at;
  assert.equal(find(slept.ring(), 'cri.StopContainer').timeoutSeconds, 25);
  assert.equal(slept.at - from, 5_000);
});

test('a preStop hook that outlasts the grace period is cut: two seconds are left for the container', () => {
  for (const lifecycle of [{ preStop: exec }, { preStop: { sleep: { seconds: 60 } } }]) {
    const bench = atPreStop(lifecycle, 4);
    assert.equal(bench.context.deadline, bench.at + 4_000);
    assert.equal(find(bench.ring(), 'cri.StopContainer').timeoutSeconds, 2);
  }
});

test('grace 0 runs no preStop hook', () => {
  assert.equal(atPreStop({ preStop: exec }, 0).state, 'stopping.killing');
});

test('a preStop hook is not run twice for one container, also when the agent came back', () => {
  const bench = new ContainerBench({ lifecycle: { preStop: exec } });
  bench.snapshot = { ...bench.snapshot, context: { ...bench.context, preStopDone: 'c1' } } as never;
  bench.over.observed = seen();
  bench.tell({ type: 'observed' });
  assert.equal(bench.context.preStopDone, 'c1');
  bench.kill(30);
  assert.equal(bench.state, 'stopping.killing');
  const other = new ContainerBench({ lifecycle: { preStop: exec } });
  other.snapshot = { ...other.snapshot, context: { ...other.context, preStopDone: 'c0' } } as never;
  other.over.observed = seen();
  other.tell({ type: 'observed' });
  other.kill(30);
  assert.equal(other.state, 'stopping.preStop', 'another container: its own hook');
});
