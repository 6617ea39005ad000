/** Who had what of the node at a moment, from the journals of the managers' machines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SingleMachine } from '../../../actors/record/host/single-machine.ts';
import { admission } from '../../../actors/record/machines/admission.ts';
import { devices } from '../../../actors/record/machines/devices.ts';
import { MOST_HOLDERS } from '../../../actors/inspect/inspector/node-overview/resources-at.ts';
import { bornAdmission } from '../../../machines/admission/admission-state.ts';
import { NO_DEVICES } from '../../../machines/devices/device-state.ts';
import type { DeviceMessage } from '../../../machines/devices/device-messages.ts';
import { claimOf, nodeClaim } from '../../../machines/admission/pod-claim.ts';
import { container, node, pod } from '../admission/admission-input.ts';
import { RULES } from '../admission/admission-rules.ts';
import { fourCpus } from '../admission/four-cpus.ts';
import { folder, journalingShard, memoryLog } from '../journal/journal-fixture.ts';
import { inspecting, podNamed, startPods } from './made-journal.ts';

const journalIn = (dir: string) => ({ dir, agent: 'v', maxBytes: 1 << 20, log: memoryLog().log });
const GPU = 'example.com/gpu';
const T = Date.now() + 600_000;

/** A plugin of these devices, of which each pod gets one. */
function givesAway(dir: string, uids: readonly string[]) {
  const machine = new SingleMachine(devices, NO_DEVICES, journalIn(dir));
  const told = Object.fromEntries(uids.map((uid) => [`of-${uid}`, { healthy: true, nodes: [] }]));
  const messages: DeviceMessage[] = [
    { type: 'plugin.came', at: T, resource: GPU, options: { preStart: false, prefers: false } },
    { type: 'plugin.told', at: T, resource: GPU, devices: told },
  ];
  const response = { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [] };
  for (const [i, uid] of uids.entries()) {
    const steps = [{ container: 'c', kind: 'regular' as const, resource: GPU, count: 1 }];
    messages.push(
      { type: 'pod.asks', at: T + 1_000 * (i + 1), uid, steps, active: [...uids], running: [] },
      { type: 'plugin.gave', at: T + 1_000 * (i + 1), response },
    );
  }
  for (const message of messages) machine.take(message);
  return machine;
}

test('devices of containers, since when, and at an earlier moment', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir, { shard: 0 });
  await startPods(shard, [podNamed('a', 'uid-a'), podNamed('b', 'uid-b')], T - 5_000);
  shard.close();
  const machine = givesAway(dir, ['uid-a', 'uid-b']);
  machine.take({ type: 'pod.gone', at: T + 9_000, uid: 'uid-a' });
  machine.close();
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });

  const { resources } = await inspector.overview(null);
  assert.deepEqual([resources?.shared, resources?.free, resources?.more], [null, null, 0]);
  const of = (rows = resources?.rows) => rows?.map(({ pod, container, devices: has }) => [pod, container, ...has]);
  assert.deepEqual(of(), [['default/b', 'c', `${GPU} of-uid-b`]]);
  assert.equal(resources?.rows[0]?.since, new Date(T - 5_000 + 1).toISOString());

  const before = await inspector.overview(T + 3_000);
  assert.deepEqual(of(before.resources?.rows), [
    ['default/a', 'c', `${GPU} of-uid-a`],
    ['default/b', 'c', `${GPU} of-uid-b`],
  ]);
  assert.equal((await inspector.overview(T - 1_000)).resources, null, 'nobody had anything yet');
});

test('the first pods only; what the others have is counted', async (t) => {
  const dir = folder(t);
  givesAway(
    dir,
    Array.from({ length: MOST_HOLDERS + 7 }, (_, i) => `uid-${String(i)}`),
  ).close();
  const { resources } = await (await inspecting(t, { mode: 'files', paths: [dir] })).overview(null);
  assert.deepEqual([resources?.rows.length, resources?.more], [MOST_HOLDERS, 7]);
});

test('CPUs and memory of a container, and CPUs that all others share', async (t) => {
  const dir = folder(t);
  const rules = { ...RULES, resources: fourCpus() };
  const machine = new SingleMachine(admission, { ...bornAdmission(rules), node: nodeClaim(node()) }, journalIn(dir));
  const amounts = { cpu: '2', memory: '64Mi' };
  const spec = { containers: [{ ...container('main'), resources: { requests: amounts, limits: amounts } }] };
  const comes = claimOf(pod('a', spec, { name: 'a', namespace: 'default', uid: 'uid-a', generation: 1 }));
  machine.take({ type: 'pod.asks', at: T, pod: comes });
  machine.take({ type: 'pod.comes', at: T, pod: comes });
  machine.close();
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  const { resources } = await inspector.overview(null);
  // Nothing is known of the pod but its UID: its own log is not there.
  assert.deepEqual(
    resources?.rows.map(({ pod: name, cpus, since }) => [name, cpus, since]),
    [['uid-a', '2-3', null]],
  );
  assert.equal(resources?.shared, '0-1');
  const before = await inspector.overview(T - 1_000);
  assert.deepEqual([before.resources?.rows, before.resources?.shared], [[], '0-3']);
});
