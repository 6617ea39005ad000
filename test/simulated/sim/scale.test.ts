import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerState } from '../../../cri/generated/runtime/v1/api.ts';
import { bench, call } from './sim-client.ts';
import type { Bench } from './sim-client.ts';

const PODS = 2000;
const CONTAINERS = 3;

async function runPod(b: Bench, index: number): Promise<void> {
  const pod = `pod-${index}`;
  const sandbox = await b.sandbox(pod);
  const labels = { 'io.kubernetes.pod.uid': `uid-${pod}` };
  for (let c = 0; c < CONTAINERS; c++) await b.run(sandbox, `c${c}`, { labels, logPath: '' });
}

/** Works off `count` tasks, some at a time, as an agent with many shards does. */
async function inParallel(count: number, task: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await task(next++);
  };
  await Promise.all(Array.from({ length: 32 }, worker));
}

test('2,000 pods with three containers each: run, list, remove, and nothing is left', async (t) => {
  const b = await bench(t);
  let from = performance.now();
  await inParallel(PODS, (index) => runPod(b, index));
  t.diagnostic(`${PODS} pods running: ${Math.round(performance.now() - from)} ms`);
  const uids = new Set<string>();
  for (const record of b.sim.state.sandboxes.values()) uids.add(record.ips[0] ?? '');
  assert.equal(uids.size, PODS);

  from = performance.now();
  const lists = 5;
  for (let i = 0; i < lists; i++) {
    const [{ containers }, { items }] = await Promise.all([
      call(b.runtime, b.runtime.listContainers, {}),
      call(b.runtime, b.runtime.listPodSandbox, {}),
    ]);
    assert.deepEqual([containers.length, items.length], [PODS * CONTAINERS, PODS]);
    assert.ok(containers.every((each) => each.state === ContainerState.CONTAINER_RUNNING));
  }
  t.diagnostic(`both lists, decoded: ${Math.round((performance.now() - from) / lists)} ms`);

  const changed = [...b.sim.state.containers.keys()][4321] ?? '';
  b.sim.exitContainer(changed, 0);
  const { containers } = await call(b.runtime, b.runtime.listContainers, {});
  assert.deepEqual(
    containers.filter((each) => each.state !== ContainerState.CONTAINER_RUNNING).map((each) => each.id),
    [changed],
  );
  const labelSelector = { 'io.kubernetes.pod.uid': 'uid-pod-77' };
  const filter = { id: '', podSandboxId: '', labelSelector };
  assert.equal((await call(b.runtime, b.runtime.listContainers, { filter })).containers.length, CONTAINERS);

  const ids = [...b.sim.state.sandboxes.keys()];
  await inParallel(PODS, async (index) => {
    await call(b.runtime, b.runtime.removePodSandbox, { podSandboxId: ids[index] ?? '' });
  });
  const { state } = b.sim;
  assert.deepEqual([state.sandboxes.size, state.containers.size, state.timers, state.addressesInUse], [0, 0, 0, [0]]);
  assert.equal((await call(b.runtime, b.runtime.listContainers, {})).containers.length, 0);
});
