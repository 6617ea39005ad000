import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeBench } from './support/node-bench.ts';
import type { Asked } from './support/node-bench.ts';

/** What was asked for that begins so, in its order. */
const those = (asked: readonly Asked[], ...beginnings: string[]): Asked[] =>
  asked.filter((each) => beginnings.some((word) => each.startsWith(word)));

test('init containers run one after another, sidecars in between go on, and end last and in reverse', async (t) => {
  const bench = await nodeBench(t, {
    runtime: {
      containers: [
        { match: { container: 'side-*' }, exec: [{ command: 'up?', results: [{ code: 1, times: 2 }, {}] }] },
      ],
    },
  });
  const startupProbe = { exec: { command: ['up?'] }, periodSeconds: 1, failureThreshold: 100 };
  const sidecar = (name: string) => ({ name, image: 'app:1', restartPolicy: 'Always', startupProbe });
  bench.create('p', {
    initContainers: [
      { name: 'first', image: 'app:1' },
      sidecar('side-a'),
      { name: 'second', image: 'app:1' },
      sidecar('side-b'),
    ],
    containers: [{ name: 'c', image: 'app:1' }],
  });
  await bench.running('p');
  assert.deepEqual(those(bench.asked, 'start'), [
    'start first',
    'start side-a',
    'start second',
    'start side-b',
    'start c',
  ]);
  // The next one waits for the start of a sidecar, of which its startup probe decides.
  const at = (asked: Asked): number => bench.asked.indexOf(asked);
  assert.equal(those(bench.asked.slice(0, at('start second')), 'exec side-a: up?').length, 3);
  const waiting = bench.statuses('p').find(({ initContainerStatuses }) => initContainerStatuses?.[0]?.state?.running);
  assert.equal(waiting?.containerStatuses?.[0]?.state?.waiting?.reason, 'PodInitializing');
  const initialized = waiting?.conditions?.find(({ type }) => type === 'Initialized');
  assert.deepEqual(
    [initialized?.status, initialized?.reason, initialized?.message],
    ['False', 'ContainersNotInitialized', 'containers with incomplete status: [first side-a second side-b]'],
  );
  bench.api.end('p', 'd');
  await bench.gone('p');
  assert.deepEqual(
    those(bench.asked, 'stop').map((asked) => asked.split(' ')[1]),
    ['c', 'side-b', 'side-a'],
  );
});

test('an init container that fails is tried again with back-off, or fails the pod whose restartPolicy is Never', async (t) => {
  const bench = await nodeBench(t, {
    runtime: { containers: [{ match: { container: 'bad' }, attempts: [{ exit: { after: '1s', code: 4 } }] }] },
  });
  const initContainers = [{ name: 'bad', image: 'app:1' }];
  bench.create('again', { initContainers });
  bench.create('never', { initContainers, restartPolicy: 'Never' });
  const again = await bench.until('again', 'to crash twice', ({ status }) => {
    const [bad] = status?.initContainerStatuses ?? [];
    return (bad?.restartCount ?? 0) >= 1 && bad?.state?.waiting?.reason === 'CrashLoopBackOff';
  });
  assert.equal(again.status?.phase, 'Pending');
  const never = await bench.until('never', 'to fail', ({ status }) => status?.phase === 'Failed');
  assert.equal(never.status?.initContainerStatuses?.[0]?.state?.terminated?.exitCode, 4);
  assert.deepEqual(those(bench.asked, 'start c'), []);
});

test('postStart holds its container back; preStop comes before the signal and takes of the grace period', async (t) => {
  const bench = await nodeBench(t, {
    runtime: {
      containers: [
        {
          match: { container: 'c' },
          exec: [
            { command: 'say bye', results: [{ takes: '20s' }] },
            { command: 'say hello', results: [{ takes: '5s' }] },
          ],
        },
        { match: { container: 'mute' }, exec: [{ command: 'say hello', results: [{ code: 3, stderr: 'no voice' }] }] },
      ],
    },
    probes: [{ match: { container: 'web' }, kind: ['hook'], path: '/bye', answers: [{ status: null }] }],
  });
  const say = (word: string) => ({ exec: { command: ['say', word] } });
  bench.create('p', {
    containers: [
      { name: 'c', image: 'app:1', lifecycle: { postStart: say('hello'), preStop: say('bye') } },
      { name: 'last', image: 'app:1' },
    ],
    terminationGracePeriodSeconds: 60,
  });
  bench.create('mute', { containers: [{ name: 'mute', image: 'app:1', lifecycle: { postStart: say('hello') } }] });
  const preStop = { httpGet: { path: '/bye', port: 80 } };
  bench.create('web', { containers: [{ name: 'web', image: 'app:1', lifecycle: { preStop } }] });
  await bench.running('p');
  const at = (asked: Asked): number => bench.asked.indexOf(asked);
  assert.ok(at('exec c: say hello') > at('start c') && at('start last') > at('exec c: say hello'), bench.asked.join());
  await bench.event('mute', 'FailedPostStartHook');
  await bench.running('web');
  bench.api.end('web', 'd');
  await bench.event('web', 'FailedPreStopHook');
  await bench.gone('web');
  bench.api.end('p', 'd');
  await bench.gone('p');
  const [stop = ''] = those(bench.asked, 'stop c');
  assert.ok(at('exec c: say bye') < at(stop), bench.asked.join());
  const [, grace = ''] = /grace=(\d+)/.exec(stop) ?? [];
  assert.ok(Number(grace) >= 2 && Number(grace) <= 40, stop);
  assert.ok(bench.asked.includes('stop last grace=60'), bench.asked.join());
});
