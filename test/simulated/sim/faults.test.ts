import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import type { SimScript } from '../../../cri/sim/script.ts';
import { bench, call } from './sim-client.ts';
import type { Bench } from './sim-client.ts';
import { until } from '../../tools/wait-for.ts';

/** `.` for a call that went well, else the gRPC status number. */
async function outcomes(calls: (() => Promise<unknown>)[]): Promise<string> {
  let out = '';
  for (const each of calls) {
    out += await each().then(
      () => '.',
      (error: { code: number }) => `${error.code}`,
    );
  }
  return out;
}

const version = (b: Bench, deadlineMs?: number) => call(b.runtime, b.runtime.version, { version: '' }, deadlineMs);

test('a call fails after so many, so many times', async (t) => {
  const b = await bench(t, {
    faults: [{ match: { rpc: 'Version' }, skip: 1, times: 2, fail: { code: 'Unavailable', message: 'busy' } }],
  });
  assert.equal(await outcomes(Array.from({ length: 5 }, () => () => version(b))), '.1414..');
  assert.equal(b.sim.state.calls.count('Version'), 5);
  assert.deepEqual(
    b.sim.state.calls.recent.map((entry) => [entry.rpc, entry.code]),
    [0, 14, 14, 0, 0].map((code) => ['Version', code]),
  );
});

test('rules find their pod and container, and count for each alone when told so', async (t) => {
  const b = await bench(t, {
    faults: [
      { match: { rpc: ['Run*', 'Stop*'], namespace: 'default', pod: 'bad-*' }, per: 'pod', times: 1, fail: {} },
      { match: { rpc: 'CreateContainer', container: 'c?', image: '*box' }, per: 'container', times: 1, fail: {} },
    ],
  });
  assert.equal(await outcomes(['bad-1', 'bad-2', 'bad-1', 'good'].map((pod) => () => b.sandbox(pod))), '22..');
  const [one = '', two = ''] = b.sim.state.sandboxes.keys();
  const create = (sandbox: string, name: string) => () => b.create(sandbox, name);
  assert.equal(await outcomes([create(one, 'c1'), create(two, 'c1'), create(one, 'c1'), create(one, 'd')]), '22..');
});

test('phase after: it is done, but the caller does not learn it', async (t) => {
  const b = await bench(t, {
    faults: [{ match: { rpc: 'RunPodSandbox' }, phase: 'after', times: 1, fail: { code: 'DeadlineExceeded' } }],
  });
  await assert.rejects(b.sandbox('web'), { code: status.DEADLINE_EXCEEDED });
  assert.equal(b.sim.state.sandboxes.size, 1);
  await assert.rejects(b.sandbox('web'), /is reserved for/);
});

test('a hang holds one pod only, until it is released', async (t) => {
  const b = await bench(t);
  b.sim.hang({ match: { pod: 'stuck' } });
  const stuck = b.sandbox('stuck');
  await b.sandbox('web');
  assert.equal(b.sim.state.hanging, 1);
  assert.equal(b.sim.state.sandboxes.size, 1);
  b.sim.release();
  await stuck;
  assert.equal(b.sim.state.hanging, 0);
  await b.sandbox('stuck', { metadata: { name: 'stuck', namespace: 'default', uid: 'u', attempt: 1 } });
});

test('a scripted hang ends by itself after its time, or never', async (t) => {
  const b = await bench(t, {
    faults: [
      { match: { rpc: 'Version' }, times: 1, hang: '30ms' },
      { match: { rpc: 'Version' }, hang: 'forever' },
    ],
  });
  await version(b);
  await assert.rejects(version(b, 50), { code: status.DEADLINE_EXCEEDED });
  await until(() => b.sim.state.hanging === 0);
});

test('a failure set by a test holds until it is cleared', async (t) => {
  const b = await bench(t);
  b.sim.fail({ match: { rpc: 'ListContainers' }, fail: { code: 'Internal', message: 'boom' } });
  const list = () => call(b.runtime, b.runtime.listContainers, {});
  await assert.rejects(list(), { code: status.INTERNAL, details: 'boom' });
  await call(b.runtime, b.runtime.listPodSandbox, {});
  b.sim.clearFailures();
  await list();
});

test('a rule holds during its window only', async (t) => {
  const b = await bench(t, { faults: [{ during: { for: 2_000 }, fail: { code: 'Unavailable' } }] });
  await assert.rejects(version(b), { code: status.UNAVAILABLE });
  await until(
    () =>
      version(b).then(
        () => true,
        () => false,
      ),
    'the end of the window',
  );
});

test('a probability draws the same from the same seed, whatever the order of pods', async (t) => {
  const script: SimScript = { faults: [{ match: { rpc: 'RunPodSandbox' }, probability: 0.5, fail: {} }] };
  const pods = Array.from({ length: 40 }, (_, i) => `pod-${i}`);
  const failed = async (seed: number, order: string[]) => {
    const b = await bench(t, script, seed);
    const found: string[] = [];
    for (const pod of order) await b.sandbox(pod).catch(() => found.push(pod));
    return found.sort();
  };
  const first = await failed(7, pods);
  assert.ok(first.length > 8 && first.length < 32, `${first.length} of 40`);
  assert.deepEqual(await failed(7, [...pods].reverse()), first);
  assert.notDeepEqual(await failed(8, pods), first);
});

test('delays: the first rule that fits', async (t) => {
  const b = await bench(t, {
    delays: [
      { match: { rpc: 'RunPodSandbox', pod: 'slow' }, takes: [60, 80] },
      { match: { rpc: '*Sandbox' }, takes: 0 },
    ],
  });
  await Promise.all([b.sandbox('slow'), b.sandbox('quick')]);
  const { recent } = b.sim.state.calls;
  const ms = (pod: string) => recent.find((entry) => entry.pod === `default/${pod}`)?.ms ?? -1;
  assert.ok(ms('slow') >= 59, `${ms('slow')}`);
  assert.equal(recent[0]?.pod, 'default/quick');
});
