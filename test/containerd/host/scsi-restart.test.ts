/** Disks of storage networks under the volume manager: what the node's status says, devices in pods, and an agent that starts anew. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { volumeManager } from '../../../actors/record/machines/volume-manager.ts';
import { FcVolumes } from '../../../actors/resources/scsi/fc-volumes.ts';
import { IscsiVolumes } from '../../../actors/resources/scsi/iscsi-volumes.ts';
import { attachedVolumes } from '../../../actors/resources/volumes/attached-volumes.ts';
import { VolumeManager } from '../../../actors/resources/volumes/volume-manager.ts';
import type { Node } from '../../../machines/node-object/node-types.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PersistentVolume } from '../../../machines/protocol/storage-types.ts';
import { until } from '../../tools/wait-for.ts';
import { IQN, lun, mountedAt, PORTAL, skip, withScsi } from './scsi-bench.ts';
import type { ScsiBench } from './scsi-bench.ts';

const WWN = '50060e801049cfd1';
const CHAP = { chapAuthDiscovery: true, chapAuthSession: true, secretRef: { name: 'chap', namespace: 'storage' } };

/** Volumes of claims, of a portal whose port is not named; one is larger than its claim says. */
const VOLUMES: Record<string, object> = {
  fs: { ...lun(0, { targetPortal: '10.0.0.1', ...CHAP }), capacity: { storage: '2Gi' } },
  raw: { ...lun(1, CHAP), volumeMode: 'Block' },
  fc: { fc: { targetWWNs: [WWN], lun: 5 }, volumeMode: 'Block' },
};

const podOf = (uid: string): Pod => ({
  metadata: { name: uid, namespace: 'ns', uid },
  spec: {
    containers: [
      {
        name: 'c',
        volumeMounts: [{ name: 'fs', mountPath: '/fs' }],
        volumeDevices: ['raw', 'fc'].map((name) => ({ name, devicePath: `/dev/${name}` })),
      },
    ],
    volumes: Object.keys(VOLUMES).map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
  },
});

function agent({ rootDir, ground, logged }: ScsiBench, node: Node): VolumeManager {
  const manager: VolumeManager = new VolumeManager({
    ...{ rootDir, nodeName: 'n', clock: machineClock, log: ground.log, metrics: createMetrics(), podOf },
    plugins: [new IscsiVolumes(ground), new FcVolumes(ground)],
    objects: () => ({
      claim: (_ns, name) =>
        Promise.resolve({
          metadata: { uid: name },
          spec: { volumeName: `pv-${name}` },
          status: { phase: 'Bound', capacity: { storage: '1Gi' } },
        }),
      volume: (pv) => {
        const name = pv.slice('pv-'.length);
        const spec = { claimRef: { uid: name }, ...VOLUMES[name] };
        return Promise.resolve({ metadata: { name: pv }, spec } as PersistentVolume);
      },
      patchClaim: (claim) => (logged.push('grown'), Promise.resolve(claim)),
    }),
    attached: attachedVolumes(
      () => node,
      () => Promise.resolve(node),
    ),
    nodeLabels: () => ({}),
    record: ({ reason, message }) => void logged.push(`${reason}: ${message}`),
    tell: () => undefined,
    changed: () => void (node.status = { ...node.status, volumesInUse: manager.inUse() }),
    journal: { dir: join(rootDir, '..', 'journal'), agent: 'v', maxBytes: 1 << 20, log: ground.log },
  });
  return manager;
}

const DEVICES = {
  fs: `kubernetes.io/iscsi/10.0.0.1:${IQN}:0`,
  raw: `kubernetes.io/iscsi/${PORTAL}:${IQN}:1`,
  fc: `kubernetes.io/fc/[${WWN}]:5`,
};

test(
  'volumes wait for the controller, are put into pods, outlive an agent, and go with the last pod',
  { skip },
  async () => {
    await withScsi(async (bench) => {
      const { rootDir, world, secrets, logged } = bench;
      world.target(IQN, 2, PORTAL);
      world.attached('sda', world.disk(), `by-path/fc-0x${WWN}-lun-5`);
      world.put(`chap/${PORTAL}`, 'clerk open-sesame');
      const told = ['discovery.sendtargets', 'node.session'].flatMap((setting) => [
        [`${setting}.auth.username`, 'clerk'],
        [`${setting}.auth.password`, 'open-sesame'],
      ]);
      secrets.set('storage/chap', Object.fromEntries(told) as Record<string, string>);
      const node: Node = { metadata: { name: 'n' }, status: {} };
      const first = agent(bench, node);
      await first.start();
      const mounted = Promise.all(Object.keys(VOLUMES).map((name) => first.mount('a', name)));
      await until(() => node.status?.volumesInUse?.length === 3);
      assert.deepEqual(node.status?.volumesInUse, Object.values(DEVICES).sort());
      assert.deepEqual(world.calls(), [], 'nobody signs in before the controller has said that it may');
      node.status = {
        ...node.status,
        volumesAttached: Object.values(DEVICES).map((name) => ({ name, devicePath: '' })),
      };
      const [fs = '', raw = '', fc = ''] = await mounted;
      const maps = join(rootDir, `plugins/kubernetes.io/iscsi/volumeDevices/iface-default/${PORTAL}-${IQN}-lun-1`);
      assert.equal(fs, join(rootDir, 'pods/a/volumes/kubernetes.io~iscsi/pv-fs'));
      assert.equal(raw, join(rootDir, 'pods/a/volumeDevices/kubernetes.io~iscsi/pv-raw'));
      assert.equal(readlinkSync(raw), join(world.dir, 'dev/sd2n1'));
      assert.equal(readlinkSync(fc), join(world.dir, 'dev/sda'));
      assert.ok(statSync(join(maps, 'a')).isBlockDevice());
      assert.ok(
        logged.includes(
          `SuccessfulMountVolume: MapVolume.MapPodDevice succeeded for volume "pv-raw" globalMapPath "${maps}"`,
        ),
      );
      assert.equal(logged.includes('grown'), false, 'the node has no part in making these larger');
      first.stop();

      // The next agent knows nothing. One pod goes without that anybody asked for its volumes again, while another one comes.
      world.calls();
      const second = agent(bench, node);
      await second.start();
      assert.deepEqual(
        second.inUse(),
        [DEVICES.fc, DEVICES.raw, `kubernetes.io/iscsi/${PORTAL}:${IQN}:0`].sort(),
        'a folder does not tell that the volume names no port',
      );
      const again = await Promise.all(Object.keys(VOLUMES).map((name) => second.mount('b', name)));
      assert.deepEqual(await mountedAt(again[0] ?? ''), ['ext4 rw rw']);
      assert.deepEqual(await mountedAt(fs), ['ext4 rw rw']);
      await second.unmount('a');
      assert.equal(existsSync(join(rootDir, 'pods/a/volumes/kubernetes.io~iscsi')), false);
      assert.equal(existsSync(join(maps, 'a')), false);
      assert.deepEqual(world.sessions, [`${PORTAL} ${IQN}`]);
      assert.equal(
        world.calls().some((call) => /--log|-o delete/.test(call)),
        false,
      );
      await until(() => second.inUse().length === 3);
      assert.deepEqual(second.inUse(), Object.values(DEVICES).sort());
      const measured = second.measured(podOf('b'));
      assert.deepEqual(measured.map(({ name }) => name).sort(), ['fs', 'raw'], 'kubelet measures nothing of fc');
      assert.deepEqual(measured.map(({ source }) => source).sort(), ['block', 'statfs']);
      const sizes = await measured.find(({ name }) => name === 'raw')?.usage?.();
      assert.equal(sizes?.capacityBytes, Number(execFileSync('blockdev', ['--getsize64', again[1] ?? '']).toString()));
      assert.deepEqual([sizes.usedBytes, sizes.inodes], [null, null]);
      await second.unmount('b');
      await until(() => second.inUse().length === 0);
      assert.deepEqual([world.sessions, world.read('sys/block/sda/device/delete')], [[], '1']);
      assert.equal(volumeManager.stateName(second.state), 'settled');
      second.stop();

      const left = readdirSync(join(rootDir, 'plugins/kubernetes.io'), { recursive: true, encoding: 'utf8' }).sort();
      assert.deepEqual(left, [
        ...['fc', 'fc/volumeDevices', 'iscsi', 'iscsi/iface-default'],
        ...['iscsi/volumeDevices', 'iscsi/volumeDevices/iface-default'],
      ]);
      const entries = readdirSync(join(rootDir, '..', 'journal'), { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      const journaled = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
      assert.match(journaled.join(''), /device\.stage/);
      assert.doesNotMatch(journaled.join('') + logged.join(''), /sesame/);
    });
  },
);

test(
  'what an agent that died has left of a volume that no pod has is let go of by the next one',
  { skip },
  async () => {
    await withScsi(async (bench) => {
      const { rootDir, world } = bench;
      world.target(IQN, 1, PORTAL);
      const plugin = new IscsiVolumes(bench.ground);
      const spec = { ...lun(0) };
      const volume = { name: 'v', ...spec } as NonNullable<NonNullable<Pod['spec']>['volumes']>[number];
      const folder = await plugin.stage({
        spec: { name: 'v', pv: null, claim: null, volume, readOnly: false, mode: 'Filesystem' },
        ...{ pod: podOf('a'), devicePath: '', signal: new AbortController().signal },
      });
      assert.deepEqual(await mountedAt(folder), ['ext4 rw rw']);
      const next = agent(bench, { metadata: { name: 'n' }, status: {} });
      await next.start();
      await until(() => !existsSync(folder));
      assert.deepEqual([world.sessions, await mountedAt(folder)], [[], []]);
      await until(() => next.inUse().length === 0);
      next.stop();
      assert.equal(existsSync(join(rootDir, 'pods')), false);
    });
  },
);
