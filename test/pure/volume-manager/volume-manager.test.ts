/** The volume manager's host with drivers that are a model. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { attachedVolumes } from '../../../actors/resources/volumes/attached-volumes.ts';
import { VolumeManager } from '../../../actors/resources/volumes/volume-manager.ts';
import { VolumeFailure } from '../../../actors/resources/volumes/volume-plugin.ts';
import type { VolumePlugin } from '../../../actors/resources/volumes/volume-plugin.ts';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { HostFailure } from '../../../actors/host/files/host-failure.ts';
import type { Clock } from '../../../actors/host/time/clock.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { volumeManager } from '../../../actors/record/machines/volume-manager.ts';
import type { Node } from '../../../machines/node-object/node-types.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';
import type { PersistentVolume } from '../../../machines/protocol/storage-types.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { ClaimServer } from './claim-server.ts';
import { folder, memoryLog } from '../journal/journal-fixture.ts';
import { failOn } from '../faults/failing-machine.ts';

/** Pods `a` and `b` with volumes `x` and `y` of the claims of these names. */
const podOf = (uid: string): Pod => ({
  metadata: { name: uid, namespace: 'ns', uid },
  spec: {
    containers: [{ name: 'c', volumeMounts: ['x', 'y'].map((name) => ({ name, mountPath: `/${name}` })) }],
    volumes: ['x', 'y'].map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
  },
});

interface BenchOptions {
  annotations?: Record<string, string>;
  selinux?: boolean;
  clock?: Clock;
  server?: ClaimServer;
}

function bench(
  t: TestContext,
  plugin: Partial<VolumePlugin> = {},
  volume: (name: string) => PersistentVolume['spec'] = () => ({}),
  { annotations = {}, selinux, clock = machineClock, server }: BenchOptions = {},
) {
  const rootDir = folder(t);
  const calls: string[] = [];
  const node: Node = { metadata: { name: 'n', labels: { zone: 'one' } }, status: {} };
  const refreshed: string[] = [];
  const metrics = createMetrics();
  const events: RecordedEvent[] = [];
  const driver: VolumePlugin = {
    name: 'test/driver',
    serves: () => true,
    deviceName: ({ name }) => Promise.resolve(`disk-${name}`),
    attachable: () => Promise.resolve(false),
    stages: () => Promise.resolve(true),
    stage: ({ spec }) => (calls.push(`stage ${spec.name}`), Promise.resolve(`/staged/${spec.name}`)),
    publish: ({ spec, pod, stagedPath, again }) => {
      calls.push(`${again ? 'republish' : 'publish'} ${spec.name} to ${pod.metadata?.name ?? ''} from ${stagedPath}`);
      return Promise.resolve(`/in/${pod.metadata?.name ?? ''}/${spec.name}`);
    },
    unpublish: ({ podUid, name }) => (calls.push(`unpublish ${name} of ${podUid}`), Promise.resolve()),
    unstage: ({ deviceName, stagedPath }) => (calls.push(`unstage ${deviceName} at ${stagedPath}`), Promise.resolve()),
    publishedOnDisk: ({ name }) => Promise.resolve({ deviceName: `disk-${name}`, attachable: false }),
    ...plugin,
  };
  const manager: VolumeManager = new VolumeManager({
    ...{
      rootDir,
      nodeName: 'n',
      plugins: [driver],
      clock,
      log: memoryLog().log,
      metrics,
    },
    objects: () => ({
      claim: async (ns, name) =>
        (await server?.objects.claim(ns, name)) ?? {
          metadata: { uid: name },
          spec: { volumeName: `pv-${name}` },
          status: { phase: 'Bound' },
        },
      volume: (name) =>
        Promise.resolve({ metadata: { annotations }, spec: { claimRef: { uid: name.slice(3) }, ...volume(name) } }),
      ...(server && { patchClaim: server.objects.patchClaim }),
    }),
    attached: attachedVolumes(
      () => node,
      () => Promise.resolve(node),
    ),
    nodeLabels: () => node.metadata?.labels ?? {},
    podOf,
    selinux,
    record: (event) => void events.push(event),
    tell: (uid, { type }) => void refreshed.push(`${uid} ${type}`),
    changed: () => void (node.status = { ...node.status, volumesInUse: manager.inUse() }),
    journal: { dir: join(rootDir, 'journal'), agent: 'v', maxBytes: 1 << 20, log: memoryLog().log },
  });
  t.after(() => manager.stop());
  return { manager, calls, node, refreshed, rootDir, metrics, events };
}

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => `${(error as { code: string }).code}: ${(error as Error).message}`,
  );

test('two pods share a device; it is given back after the second', async (t) => {
  const { manager, calls } = bench(t);
  assert.equal(manager.nameOf('a', 'x'), null, 'it was not looked up');
  assert.equal(await manager.mount('a', 'x'), '/in/a/pv-x');
  assert.equal(manager.nameOf('a', 'x'), 'pv-x');
  assert.equal(await manager.mount('b', 'x'), '/in/b/pv-x');
  assert.equal(await manager.mount('b', 'x'), '/in/b/pv-x', 'asking again does nothing');
  await manager.unmount('a');
  assert.deepEqual(calls, [
    ...[
      'stage pv-x',
      'publish pv-x to a from /staged/pv-x',
      'publish pv-x to b from /staged/pv-x',
      'unpublish pv-x of a',
    ],
  ]);
  await manager.unmount('b');
  await waitFor('the device to be given back', () =>
    Promise.resolve(calls.at(-1) === 'unstage disk-pv-x at /staged/pv-x' || undefined),
  );
  await manager.unmount('b');
  assert.equal(volumeManager.stateName(manager.state), 'settled');
});

test('a driver that hangs on one volume holds up neither the other volume nor the other pod, and a pod may go meanwhile', async (t) => {
  let answer = (): void => undefined;
  let given = false;
  const { manager, calls } = bench(t, {
    stage: ({ spec, signal }) => {
      if (spec.name !== 'pv-x') return Promise.resolve('/staged');
      signal.addEventListener('abort', () => (given = true));
      return new Promise((resolve) => (answer = () => resolve('/staged/late')));
    },
  });
  const stuck = manager.mount('a', 'x');
  stuck.catch(() => undefined);
  assert.equal(await manager.mount('a', 'y'), '/in/a/pv-y');
  assert.equal(await manager.mount('b', 'y'), '/in/b/pv-y');
  await manager.unmount('a');
  assert.ok(given, 'the call is given up');
  answer();
  await waitFor('the late device to be given back', () =>
    Promise.resolve(calls.includes('unstage disk-pv-x at /staged/late') || undefined),
  );
});

test('a pod that ends waits for no call that hangs, nor for one that it would have asked for', async (t) => {
  let given = false;
  const { manager } = bench(t, {
    publish: ({ signal }) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          given = true;
          reject(new VolumeFailure('Canceled', 'context canceled', { done: false }));
        }),
      ),
  });
  const stuck = refusal(manager.mount('a', 'x'));
  const other = manager.mount('b', 'y');
  other.catch(() => undefined);
  manager.podEnds('a');
  assert.equal(await stuck, 'Canceled: the pod is to end');
  assert.equal(await refusal(manager.mount('a', 'y')), 'Canceled: the pod is to end');
  assert.equal(given, false, 'the call goes on until the pod is taken down');
  await manager.unmount('a');
  assert.ok(given, 'the call is given up');
  // Under its UID it may come again.
  const again = manager.mount('a', 'x');
  again.catch(() => undefined);
  const state = await Promise.race([
    again.catch(() => 'refused'),
    new Promise((resolve) => setImmediate(resolve, 'waits')),
  ]);
  assert.equal(state, 'waits');
});

test('what fails is told in kubelet’s words, tried again, and the pod is woken when it is there', async (t) => {
  let works = false;
  const { manager, refreshed } = bench(t, {
    publish: () =>
      works
        ? Promise.resolve('/there')
        : Promise.reject(new VolumeFailure('Odd', 'rpc error: code = Internal desc = no')),
    stage: ({ spec }) => (spec.name === 'pv-y' ? Promise.reject(new Error('no disk')) : Promise.resolve('')),
  });
  assert.equal(
    await refusal(manager.mount('a', 'x')),
    'Odd: MountVolume.SetUp failed for volume "pv-x" : rpc error: code = Internal desc = no',
  );
  assert.equal(
    await refusal(manager.mount('a', 'y')),
    'Volume: MountVolume.MountDevice failed for volume "pv-y" : no disk',
  );
  works = true;
  await waitFor('the pod to be woken', () => Promise.resolve(refreshed.includes('a pod.refresh') || undefined));
  assert.equal(await manager.mount('a', 'x'), '/there');
});

test('what a volume asks of its node and its plugin is checked before any call', async (t) => {
  const affinity = (zone: string) => ({
    nodeAffinity: {
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }] },
    },
  });
  const { manager, calls } = bench(t, { mountOptions: false }, (name) =>
    name === 'pv-x' ? affinity('two') : { ...affinity('one'), mountOptions: ['ro'] },
  );
  assert.equal(
    await refusal(manager.mount('a', 'x')),
    'NodeAffinity: MountVolume.NodeAffinity check failed for volume "pv-x" : no matching NodeSelectorTerms',
  );
  assert.equal(
    await refusal(manager.mount('a', 'y')),
    'MountOptions: MountVolume.MountOptionSupport check failed for volume "pv-y" : mount options are not supported for this volume type',
  );
  assert.deepEqual(calls, []);
});

test('an attachable volume is told to be in use, and waits until the node’s object says that it is attached', async (t) => {
  const paths: string[] = [];
  const { manager, node, calls } = bench(t, {
    attachable: () => Promise.resolve(true),
    waitForAttach: ({ devicePath }) => (paths.push(devicePath), Promise.resolve('/dev/attached')),
  });
  const mounting = manager.mount('a', 'x');
  await waitFor('the node to say that it is in use', () =>
    Promise.resolve(node.status?.volumesInUse?.join() || undefined),
  );
  assert.deepEqual(node.status?.volumesInUse, ['test/driver/disk-pv-x']);
  const why = () => volumeManager.why(manager.state);
  await waitFor(
    'the look at its attachment',
    () =>
      Promise.resolve(
        /attachFailed.*Volume not attached according to node status for volume "pv-x"/.exec(why()) ?? undefined,
      ),
    why,
  );
  node.status = { ...node.status, volumesAttached: [{ name: 'test/driver/disk-pv-x', devicePath: '/dev/told' }] };
  assert.equal(await mounting, '/in/a/pv-x', 'its pod waits on, and is told nothing');
  assert.deepEqual(paths, ['/dev/told']);
  await manager.unmount('a');
  await waitFor('the device to be given back', () => Promise.resolve(calls.at(-1)?.startsWith('unstage') || undefined));
  await waitFor('the node to say so', () => Promise.resolve(node.status?.volumesInUse?.length === 0 || undefined));
});

test('a volume that waits to be attached is mounted when its driver says that nobody has to', async (t) => {
  let answer = (): Promise<boolean> => Promise.resolve(true);
  const { manager, node } = bench(t, { attachable: () => answer() });
  const mounting = manager.mount('a', 'x');
  const looked = () => Promise.resolve(/next try|attachFailed/.exec(volumeManager.why(manager.state)) ?? undefined);
  await waitFor('the look at its attachment', looked);
  answer = () => Promise.reject(new Error('not known now'));
  const failures = () => Object.values(manager.state.devices)[0]?.context.failures ?? 0;
  const before = failures();
  await waitFor('a look that cannot tell', () => Promise.resolve(failures() > before || undefined));
  answer = () => Promise.resolve(false);
  assert.equal(await mounting, '/in/a/pv-x');
  assert.deepEqual(node.status?.volumesInUse, []);
});

test('a volume is mounted when the node’s object names it as attached, however long the pause until the next look', async (t) => {
  const at = machineClock.now();
  const clock = { ...machineClock, now: () => at };
  const { manager, node } = bench(t, { attachable: () => Promise.resolve(true) }, undefined, { clock });
  const mounting = manager.mount('a', 'x');
  await waitFor('the look at its attachment', () =>
    Promise.resolve(/Volume has not been added|not attached/.exec(volumeManager.why(manager.state)) ?? undefined),
  );
  manager.nodeTold();
  const told = { name: 'test/driver/disk-pv-x', devicePath: '' };
  node.status = { volumesAttached: [told] };
  manager.nodeTold();
  assert.deepEqual(
    Object.values(manager.state.devices).map(({ value }) => value),
    ['attachFailed'],
    'the node does not say that it is in use',
  );
  node.status = { volumesInUse: [told.name], volumesAttached: [told] };
  manager.nodeTold();
  assert.equal(await mounting, '/in/a/pv-x');
});

test('an attachment that is heard of while the node is asked is found at a second look', async () => {
  const device = 'test/driver/d';
  const before: Node = { status: { volumesInUse: [device] } };
  const after: Node = { status: { volumesInUse: [device], volumesAttached: [{ name: device, devicePath: '/dev/d' }] } };
  let told = before;
  const answers = [before, after];
  const attached = attachedVolumes(
    () => told,
    () => ((told = after), Promise.resolve(answers.shift() ?? null)),
  );
  assert.equal(await attached.waitFor(device, 'd', new AbortController().signal), '/dev/d');
  told = before;
  const never = attachedVolumes(
    () => told,
    () => Promise.resolve(before),
  );
  await assert.rejects(never.waitFor(device, 'd', new AbortController().signal), /not attached according to node/);
});

test('that a volume could not be brought up to date is an event of its pod', async (t) => {
  const looks: (() => void)[] = [];
  const clock: Clock = { ...machineClock, lookAfter: (_ms, look) => (looks.push(look), { cancel: () => undefined }) };
  const { manager, events } = bench(
    t,
    {
      republishes: () => Promise.resolve(true),
      publish: ({ again }) => (again ? Promise.reject(new Error('the token is refused')) : Promise.resolve('/in/a/x')),
    },
    undefined,
    { clock },
  );
  await manager.start();
  assert.equal(await manager.mount('a', 'x'), '/in/a/x');
  assert.equal(events.length, 0);
  looks[0]?.();
  const event = await waitFor('its event', () => events[0]);
  assert.deepEqual(
    [event.object.uid, event.type, event.reason, event.message],
    ['a', 'Warning', 'FailedMount', 'MountVolume.SetUp failed for volume "pv-x" : the token is refused'],
  );
  assert.equal(await manager.mount('a', 'x'), '/in/a/x', 'its pod has it all the same');
});

test('an agent that knows nothing takes away what lies in a pod’s folder, and what is staged for nobody', async (t) => {
  const staged = [{ deviceName: 'lonely', name: 'lonely', mode: 'Filesystem' as const, stagedPath: '/staged/lonely' }];
  const { manager, calls, rootDir } = bench(t, { stagedOnDisk: () => Promise.resolve(staged) });
  mkdirSync(join(rootDir, 'pods/old/volumes/test~driver/pv-o'), { recursive: true });
  mkdirSync(join(rootDir, 'pods/old/volumes/kubernetes.io~empty-dir/e'), { recursive: true });
  await manager.start();
  await waitFor('the lonely device to go', () =>
    Promise.resolve(
      calls.includes('unstage disk-lonely at /staged/lonely') ||
        calls.includes('unstage lonely at /staged/lonely') ||
        undefined,
    ),
  );
  await manager.unmount('old');
  assert.ok(calls.includes('unpublish pv-o of old'));
});

test('the group that a PV is annotated with is known once its volume is there', async (t) => {
  const { manager } = bench(t, {}, undefined, { annotations: { 'pv.beta.kubernetes.io/gid': '1234' } });
  assert.deepEqual(await manager.traitsOf('a', 'x', ''), {});
  const path = await manager.mount('a', 'x');
  assert.deepEqual(await manager.traitsOf('a', 'x', path), { group: '1234' });
});

test('mount options in the annotation of a PV are options of it: what takes none refuses them', async (t) => {
  const { manager } = bench(t, { mountOptions: false }, undefined, {
    annotations: { 'volume.beta.kubernetes.io/mount-options': 'hard,nfsvers=4.1' },
  });
  assert.equal(
    await refusal(manager.mount('a', 'x')),
    'MountOptions: MountVolume.MountOptionSupport check failed for volume "pv-x" : mount options are not supported for this volume type',
  );
});

test('where SELinux is on the plugin says whether a volume that can be written to is to be labelled', async (t) => {
  const asked: string[] = [];
  const relabels: VolumePlugin['relabels'] = ({ name }, path) => (asked.push(path), Promise.resolve(name === 'pv-x'));
  const traits = async (selinux: boolean, plugin: Partial<VolumePlugin>, volume: string) => {
    const { manager } = bench(t, plugin, undefined, { selinux });
    return manager.traitsOf('a', volume, await manager.mount('a', volume));
  };
  assert.deepEqual(await traits(true, { relabels }, 'x'), { relabel: true });
  assert.deepEqual(await traits(true, { relabels }, 'y'), {});
  assert.deepEqual(asked, ['/in/a/pv-x', '/in/a/pv-y']);
  assert.deepEqual(await traits(true, {}, 'x'), {}, 'a plugin that does not know it');
  assert.deepEqual(await traits(false, { relabels }, 'x'), {});
  assert.equal(asked.length, 2, 'nobody is asked without SELinux');
});

test('that files are given to a group for long is told to the pod, and how long it took is measured', async (t) => {
  const { manager, events, metrics } = bench(
    t,
    {
      publish({ ownership }) {
        ownership.slow?.('it takes long');
        ownership.over?.(1, false);
        return Promise.resolve('/there');
      },
    },
    () => ({ csi: { driver: 'csi.example.com', volumeHandle: 'h' } }),
  );
  await manager.mount('a', 'x');
  assert.deepEqual(
    events.map(({ object, type, reason, message }) => [object.name, type, reason, message].join(' ')),
    ['a Warning VolumePermissionChangeInProgress it takes long'],
  );
  const labels =
    'volume_plugin="test/driver:csi.example.com",operation_name="volume_apply_access_control",migrated="false",status="success"';
  assert.match(await metrics.registry.metrics(), new RegExp(`_count\\{${labels}\\} 1`));
});

test('operations on a volume of CSI are counted by its driver, from the look whether it is attached to the end of its device', async (t) => {
  const { manager, metrics, node } = bench(t, { attachable: () => Promise.resolve(true) }, () => ({
    csi: { driver: 'csi.example.com', volumeHandle: 'h' },
  }));
  node.status = { ...node.status, volumesAttached: [{ name: 'test/driver/disk-pv-x', devicePath: '' }] };
  await manager.mount('a', 'x');
  assert.deepEqual(manager.plugins().there, ['test/driver:csi.example.com']);
  await manager.unmount('a');
  await waitFor('the device to be given back', () =>
    Promise.resolve(Object.keys(manager.state.devices).length === 0 || undefined),
  );
  const { values } = await metrics.storageOperation.get();
  const counts = values.filter(({ metricName }) => metricName === 'storage_operation_duration_seconds_count');
  assert.deepEqual(
    counts.map(({ labels, value }) => [labels.operation_name, labels.status, labels.volume_plugin, value].join(' ')),
    [
      'verify_controller_attached_volume success test/driver:csi.example.com 1',
      'volume_mount success test/driver:csi.example.com 1',
      'volume_unmount success test/driver:csi.example.com 1',
      'unmount_device success test/driver 1',
    ],
  );
  assert.match(await metrics.registry.metrics(), /volume_operation_total_seconds_count\{plugin_name="test\/driver:csi/);
});

test('volumes that are not attached in time, for want of room on the node, have their pod rejected once', async (t) => {
  let late = 0;
  const full = new Set(['pv-x', 'pv-y']);
  const { manager, metrics } = bench(
    t,
    {
      attachable: () => Promise.resolve(true),
      foundNoRoom: ({ name }) => (full.has(name) ? Promise.resolve(true) : Promise.reject(new Error('away'))),
    },
    undefined,
    { clock: { ...machineClock, now: () => machineClock.now() + late } },
  );
  const waited = async (uid: string): Promise<string[]> => {
    const waits = ['x', 'y'].map((volume) => refusal(manager.mount(uid, volume)));
    await waitFor('the look at their attachment', () => {
      const { mounts, devices } = manager.state;
      const looked = Object.values(mounts).filter(
        ({ value, context }) =>
          value === 'waitingForDevice' && devices[context.known?.device ?? '']?.value === 'attachFailed',
      );
      return Promise.resolve(looked.length === Object.keys(mounts).length || undefined);
    });
    late += 123_000;
    return Promise.all(waits);
  };
  const text = 'timed out waiting for the condition';
  assert.deepEqual(await waited('a'), [
    `VolumeAttachmentLimitExceeded: ${text}`,
    `VolumeAttachmentLimitExceeded: ${text}`,
  ]);
  const rejected = async () => (await metrics.admissionRejections.get()).values;
  assert.deepEqual(await rejected(), [{ labels: { reason: 'VolumeAttachmentLimitExceeded' }, value: 1 }]);
  full.clear();
  assert.deepEqual(await waited('b'), [`VolumeUnattached: ${text}`, `VolumeUnattached: ${text}`]);
  assert.equal((await rejected())[0]?.value, 1);
});

test('that a disk has another file system than its PV says is an event of the PV, too', async (t) => {
  const cause = new HostFailure('FilesystemMismatch', 'wrong fs type');
  const { manager, events } = bench(t, {
    stage: () => Promise.reject(new VolumeFailure('LocalVolume', `local: ${cause.message}`, { cause })),
  });
  assert.equal(
    await refusal(manager.mount('a', 'x')),
    'LocalVolume: MountVolume.MountDevice failed for volume "pv-x" : local: wrong fs type',
  );
  assert.deepEqual(
    events.map(({ object, reason, message }) => [object.kind, object.name, reason, message].join(' ')),
    ['PersistentVolume pv-x FailedMountOnFilesystemMismatch MountVolume failed for volume "pv-x" local: wrong fs type'],
  );
});

test('who lacks room on the node is rejected at once when another volume of the pod cannot be looked up', async (t) => {
  const { manager } = bench(
    t,
    { attachable: () => Promise.resolve(true), foundNoRoom: () => Promise.resolve(true) },
    (name) => (name === 'pv-y' ? { volumeMode: 'Block' } : {}),
  );
  const [x, y] = await Promise.all(['x', 'y'].map((volume) => refusal(manager.mount('a', volume))));
  assert.equal(x, 'VolumeAttachmentLimitExceeded: timed out waiting for the condition');
  assert.match(y ?? '', /^VolumeUnprocessed: /);
  assert.equal(manager.state.mounts['a/x']?.value, 'waitingForDevice', 'it is looked for on');
});

test('a volume that is to be larger is so before its pod has it; later that is an event of the pod', async (t) => {
  const grown = {
    allocatedResources: { storage: '2Gi' },
    allocatedResourceStatuses: { storage: 'NodeResizePending' },
  };
  const server = new ClaimServer({
    metadata: { uid: 'x', name: 'x', namespace: 'ns' },
    spec: { volumeName: 'pv-x', resources: { requests: { storage: '2Gi' } } },
    status: { phase: 'Bound', capacity: { storage: '1Gi' }, ...grown },
  });
  let fails = new VolumeFailure('Internal', 'no room');
  const { manager, events, calls } = bench(
    t,
    { expand: ({ publishedPath }) => (calls.push(`expand ${publishedPath}`), Promise.reject(fails)) },
    () => ({ capacity: { storage: '2Gi' } }),
    { server },
  );
  assert.equal(
    await refusal(manager.mount('a', 'x')),
    'Internal: MountVolume.Setup failed while expanding volume for volume "pv-x" : no room',
  );
  assert.deepEqual(calls.slice(-2), ['publish pv-x to a from /staged/pv-x', 'expand /in/a/pv-x']);
  fails = new VolumeFailure('OutOfRange', 'too large');
  await waitFor('the second try', () => (server.told.includes('NodeResizeInfeasible') ? true : undefined));
  assert.equal(await manager.mount('a', 'x'), '/in/a/pv-x');
  assert.equal(events.length, 0, 'a mount that fails is told by the pod');
  server.change(grown);
  const [event] = await waitFor('its event', () => (events.length > 0 ? events : undefined));
  assert.deepEqual(
    [event?.object.kind, event?.reason, event?.message],
    ['Pod', 'VolumeResizeFailed', 'NodeExpandVolume.NodeExpandVolume failed for volume "pv-x" : too large'],
  );
});

test('what the machine fails at is told to who waits for it, and costs no other volume', async (t) => {
  const { manager } = bench(t);
  const { mend } = failOn(t, volumeManager, ['volume.wanted', 'pod.left']);
  assert.match(await refusal(manager.mount('a', 'x')), /^Volume: NOD015: .*volume\.wanted/);
  mend();
  assert.equal(await manager.mount('a', 'x'), '/in/a/pv-x');
  const again = failOn(t, volumeManager, ['pod.left']);
  assert.match(await refusal(manager.unmount('a')), /^Volume: NOD015: .*pod\.left/);
  again.mend();
  assert.equal(await refusal(manager.unmount('a')), 'none');
});
