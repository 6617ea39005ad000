/** Volumes that are mounted with SELinux labels (KEP-1710). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { containerLabels } from '../../../actors/resources/machine/selinux.ts';
import { contextOf } from '../../../actors/resources/volumes/mount-labels.ts';
import { countLabel, volumeLabel } from '../../../actors/resources/volumes/volume-label.ts';
import type { VolumePlugin, VolumeSpec } from '../../../actors/resources/volumes/volume-plugin.ts';
import { parseMountinfo } from '../../../actors/host/files/mountinfo.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { VolumeLabel } from '../../../machines/volume-manager/mount-context.ts';
import { volumeWaits } from '../../../machines/volume-manager/volume-words.ts';
import { countedMode, fileLabel, isLabelled } from '../../../machines/volumes/selinux-label.ts';
import type { LabelRules, SeLinuxOptions } from '../../../machines/volumes/selinux-label.ts';
import { VolumeWorld, known } from './world.ts';

const LABELS = { process: 'system_u:system_r:container_t:s0', file: 'system_u:object_r:container_file_t:s0' };
const FILE = 'system_u:object_r:container_file_t';
const DEVICE = 'test/p/d';

test('a file label has the policy’s role and type, and the user and level of the container', () => {
  assert.equal(fileLabel(LABELS, { level: 's0:c1,c2' }), `${FILE}:s0:c1,c2`);
  const all = { user: 'staff_u', role: 'staff_r', type: 'spc_t', level: 's0' };
  assert.equal(fileLabel(LABELS, all), 'staff_u:object_r:container_file_t:s0');
  assert.equal(fileLabel(LABELS, { type: 'spc_t' }), '', 'without a level the runtime draws one');
  assert.equal(fileLabel({ process: '', file: '' }, { level: 's0' }), '', 'a policy that knows no containers');
});

test('labels of containers are those of the policy that is configured, unless the machine has its own', () => {
  const files: Record<string, string> = {
    '/etc/selinux/config': '# SELINUXTYPE=other\nSELINUX=enforcing\nSELINUXTYPE=targeted\n',
    '/etc/selinux/targeted/contexts/lxc_contexts': `process = "${LABELS.process}"\n; file = "x"\nfile = "${LABELS.file}"\n`,
  };
  const read = (path: string): string => files[path] ?? '';
  assert.deepEqual(containerLabels(read), LABELS);
  files['/usr/share/containers/selinux/contexts'] = 'process = "a:b:c:s0"\nfile = "d:e:f:s0"\n';
  assert.deepEqual(containerLabels(read), { process: 'a:b:c:s0', file: 'd:e:f:s0' });
  assert.deepEqual(
    containerLabels(() => ''),
    { process: '', file: '' },
  );
});

test('the label with which something is mounted is told by its mount', () => {
  const line = (options: string): string => `30 1 8:1 / /m rw,relatime shared:1 - ext4 /dev/sda1 rw,${options}\n`;
  const of = (options: string): string => contextOf(parseMountinfo(line(options)), '/m');
  assert.equal(of(`context="${FILE}:s0:c1,c2",errors=remount-ro`), `${FILE}:s0:c1,c2`);
  assert.equal(of(`context=${FILE}:s0`), `${FILE}:s0`);
  assert.equal(of(`seclabel,rootcontext="${FILE}:s0"`), '');
  assert.equal(contextOf([], '/m'), '');
});

const rwop = { spec: { accessModes: ['ReadWriteOncePod'] } };

test('only ReadWriteOncePod volumes have labels, or those of all access modes', () => {
  const both = { spec: { accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] } };
  assert.deepEqual(
    [rwop, both, null].map((pv) => [isLabelled(pv, { allModes: false }), isLabelled(pv, { allModes: true })]),
    [
      [true, true],
      [false, true],
      [false, false],
    ],
  );
  assert.deepEqual([rwop, both, { spec: {} }, null].map(countedMode), ['RWOP', 'RWO', '', 'inline']);
});

/** A pod whose containers mount volume `v` with these options. */
function pod(options: readonly (SeLinuxOptions | undefined)[], more: object = {}): Pod {
  const containers = options.map((seLinuxOptions, i) => ({
    ...{ name: `c${i}`, volumeMounts: [{ name: 'v', mountPath: '/v' }] },
    ...(seLinuxOptions && { securityContext: { seLinuxOptions } }),
  }));
  return { metadata: { name: 'p', uid: 'p' }, spec: { containers, ...more } };
}

function ask(
  its: Pod,
  { pv = rwop, supports = true, ...rules }: { pv?: object | null; supports?: boolean } & Partial<LabelRules> = {},
) {
  const metrics = createMetrics();
  const labelRules: LabelRules = { labels: LABELS, allModes: false, changePolicy: true, ...rules };
  const spec = { name: 'pv-1', pv, claim: null, volume: { name: 'v' }, readOnly: false, mode: 'Filesystem' };
  const plugin: Partial<VolumePlugin> = { name: 'kubernetes.io/iscsi', mountsWithContext: async () => supports };
  const looked = { pod: its, volume: 'v', spec: spec as VolumeSpec, plugin: plugin as VolumePlugin };
  return { metrics, looked, ground: { labelRules, metrics }, label: volumeLabel({ labelRules, metrics }, looked) };
}

test('a volume has the label of the containers that mount it, or of their pod', async () => {
  const a = { level: 's0:c1,c2' };
  const mount = `${FILE}:s0:c1,c2`;
  assert.deepEqual(await ask(pod([a, a])).label, { mount, wanted: mount, enforced: true });
  assert.deepEqual(await ask(pod([undefined], { securityContext: { seLinuxOptions: a } })).label, {
    ...{ mount, wanted: mount, enforced: true },
  });
  assert.deepEqual(await ask(pod([undefined])).label, { mount: '', wanted: '', enforced: true });
  const rwo = { spec: { accessModes: ['ReadWriteOnce'] } };
  assert.deepEqual(await ask(pod([a]), { pv: rwo }).label, { mount: '', wanted: mount, enforced: false });
  assert.deepEqual(await ask(pod([a]), { pv: rwo, allModes: true }).label, { mount, wanted: mount, enforced: true });
  const recursive = pod([a], { securityContext: { seLinuxChangePolicy: 'Recursive' } });
  assert.deepEqual(await ask(recursive).label, { mount: '', wanted: '', enforced: true });
  assert.deepEqual(await ask(recursive, { changePolicy: false }).label, { mount, wanted: mount, enforced: true });
  assert.equal(await ask(pod([a]), { supports: false }).label, null, 'a plugin that cannot mount so');
});

test('containers that want one volume with different labels are refused, or counted', async () => {
  const two = pod([{ level: 's0:c1,c2' }, { level: 's0:c3,c4' }]);
  const refused = ask(two);
  await assert.rejects(refused.label, {
    ...{ code: 'VolumeUnprocessed', message: `multiple SELinux labels found: ${FILE}:s0:c1,c2,${FILE}:s0:c3,c4` },
  });
  const errors = await refused.metrics.seLinuxPodMismatchErrors.get();
  assert.deepEqual(
    errors.values.map(({ value, labels }) => [value, labels]),
    [[1, { access_mode: 'RWOP' }]],
  );
  const counted = ask(two, { pv: { spec: { accessModes: ['ReadWriteMany'] } } });
  assert.equal(await counted.label, null);
  const { values } = await counted.metrics.seLinuxPodMismatchWarnings.get();
  assert.deepEqual(
    values.map(({ value, labels }) => [value, labels]),
    [[1, { access_mode: 'RWX' }]],
  );
  countLabel(counted.ground, counted.looked, 'admitted');
  countLabel(refused.ground, refused.looked, 'mismatch');
  const labels = { volume_plugin: 'kubernetes.io/iscsi', access_mode: 'RWX' };
  assert.deepEqual((await counted.metrics.seLinuxVolumesAdmitted.get()).values[0]?.labels, labels);
  const mismatch = await refused.metrics.seLinuxVolumeMismatchErrors.get();
  assert.deepEqual(mismatch.values[0]?.labels, { ...labels, access_mode: 'RWOP' });
});

/** Pods whose volume `v` is on one device, each with its label. */
function labelled(labels: Readonly<Record<string, string>>, enforced = true): VolumeWorld {
  const labelOf = (uid: string): VolumeLabel => {
    const wanted = labels[uid] ?? '';
    return { mount: enforced ? wanted : '', wanted, enforced };
  };
  return new VolumeWorld((uid, volume) => known(volume, { device: DEVICE, stages: true, seLinux: labelOf(uid) }));
}

const want = (world: VolumeWorld, uid: string) =>
  world.take({ type: 'volume.wanted', uid, pod: `ns/${uid}`, volume: 'v' });
const counts = (world: VolumeWorld): string[] =>
  world.told.flatMap((order) => (order.type === 'label.counted' ? [`${order.uid} ${order.what}`] : []));
function settle(world: VolumeWorld): void {
  for (let calls = 0; world.calls.size > 0; calls++) {
    assert.ok(calls < 20);
    world.end([...world.calls.keys()][0] ?? '');
  }
}

test('a pod that wants a volume with another label than another pod has is refused until that has left', () => {
  const world = labelled({ a: 'A', b: 'B' });
  want(world, 'a');
  settle(world);
  assert.equal(world.state.devices[DEVICE]?.context.label, 'A');
  want(world, 'b');
  world.end(world.only().key);
  assert.deepEqual(world.told.at(-1), {
    ...{ type: 'worker.failed', uid: 'b', volume: 'v', code: 'VolumeUnprocessed' },
    text: 'conflicting SELinux labels of volume v: "A" and "B"',
  });
  assert.deepEqual(counts(world), ['a admitted', 'b mismatch']);
  assert.equal(world.value('b/v'), 'unresolved');
  // It asks again while the first is being taken down: then it waits until the device is given back, which is made ready with its label.
  world.take({ type: 'pod.left', uid: 'a', found: [] });
  const { key } = world.only();
  world.wait();
  world.end([...world.calls.keys()].find((each) => each !== key) ?? '');
  assert.equal(world.value('b/v'), 'waitingForDevice');
  assert.match(
    volumeWaits(world.state, 'b')[0]?.text ?? '',
    /waiting for unmount of volume "test\/p\/d", because it is already mounted to a different pod with a different SELinux label/,
  );
  world.end(key);
  assert.equal(world.only().type, 'device.unstage');
  world.end(world.only().key);
  assert.deepEqual([world.only().type, world.state.devices[DEVICE]?.context.label], ['device.stage', 'B']);
  settle(world);
  assert.equal(world.value('b/v'), 'mounted');
  assert.equal(world.state.mounts['b/v']?.context.problem, null);
  assert.deepEqual(counts(world), ['a admitted', 'b mismatch', 'b admitted']);
});

test('pods with the same label share the volume; where labels are not used yet, different ones are only counted', () => {
  const same = labelled({ a: 'A', b: 'A' });
  const other = labelled({ a: 'A', b: 'B' }, false);
  for (const world of [same, other]) {
    for (const uid of ['a', 'b']) {
      want(world, uid);
      settle(world);
      assert.equal(world.value(`${uid}/v`), 'mounted');
    }
  }
  assert.deepEqual(counts(same), ['a admitted']);
  assert.deepEqual(counts(other), ['a admitted', 'b mismatch']);
});

test('what an earlier agent has staged with another label is given back first, unless a pod has it already', () => {
  const device = { device: DEVICE, plugin: 'test/p', name: 'v', mode: 'Filesystem', attachable: false } as const;
  const staged = { ...device, stagedPath: '/s', label: '' };
  const world = labelled({ a: 'A' });
  world.staged.add(DEVICE);
  world.take({ type: 'node.found', pods: [], devices: [staged] });
  settle(world);
  want(world, 'a');
  settle(world);
  assert.equal(world.state.devices[DEVICE]?.context.label, 'A');

  const running = labelled({ a: 'A' });
  running.staged.add(DEVICE);
  running.published.add('a/v');
  const its = { ...device, path: '/pods/a/v' };
  running.take({ type: 'node.found', pods: [{ uid: 'a', volumes: [its] }], devices: [staged] });
  want(running, 'a');
  const calls: string[] = [];
  while (running.calls.size > 0) {
    const [call] = running.calls.values();
    calls.push(call?.type ?? '');
    running.end(call?.key ?? '');
  }
  assert.equal(calls.includes('device.unstage'), false, 'never under a live container');
  assert.equal(running.value('a/v'), 'mounted');
});

test('a pod that was found with its volume has the label of its mount before it is looked up again', () => {
  const device = { device: DEVICE, plugin: 'test/p', name: 'v', mode: 'Filesystem', attachable: false } as const;
  const world = labelled({ a: 'A', b: 'B', c: 'A' });
  world.staged.add(DEVICE);
  world.published.add('a/v');
  world.take({
    type: 'node.found',
    pods: [{ uid: 'a', volumes: [{ ...device, path: '/pods/a/v' }] }],
    devices: [{ ...device, stagedPath: '/s', label: 'A' }],
  });
  want(world, 'b');
  world.end([...world.calls.values()].find(({ type }) => type === 'volume.resolve')?.key ?? '');
  assert.deepEqual(
    world.told.findLast(({ type }) => type === 'worker.failed'),
    {
      ...{ type: 'worker.failed', uid: 'b', volume: 'v', code: 'VolumeUnprocessed' },
      text: 'conflicting SELinux labels of volume v: "A" and "B"',
    },
  );
  want(world, 'c');
  world.end([...world.calls.values()].find(({ type }) => type === 'volume.resolve')?.key ?? '');
  assert.deepEqual(counts(world), ['b mismatch'], 'the same label is none that stands in the way');
});

test('pods that were found with one volume and want the same label are no hindrance to each other', () => {
  for (const enforced of [true, false]) {
    const device = { device: DEVICE, plugin: 'test/p', name: 'v', mode: 'Filesystem', attachable: false } as const;
    const world = labelled({ a: 'A', b: 'A' }, enforced);
    world.staged.add(DEVICE);
    for (const uid of ['a', 'b']) world.published.add(`${uid}/v`);
    world.take({
      type: 'node.found',
      pods: ['a', 'b'].map((uid) => ({ uid, volumes: [{ ...device, path: `/pods/${uid}/v` }] })),
      devices: [{ ...device, stagedPath: '/s', label: enforced ? 'A' : '' }],
    });
    for (const uid of ['a', 'b']) {
      want(world, uid);
      settle(world);
      assert.equal(world.value(`${uid}/v`), 'mounted');
    }
    assert.equal(
      counts(world).some((each) => each.endsWith('mismatch')),
      false,
    );
  }
});
