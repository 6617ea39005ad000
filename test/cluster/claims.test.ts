/** Pods with claims on a real node of a real control plane: paths, folders, disks as file systems and as devices. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { runs, shell } from '../containerd/agent/support/test-pod.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Pod } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { apiPod } from './support/manifests.ts';
import { isReadyPod, uidOf } from './support/seen-pods.ts';
import type { Space } from './support/space.ts';

const run = promisify(execFile);
const NODE = 'claims';
const MIB = 1024 * 1024;
const cluster = withCluster({ nodes: [{ name: NODE }] });
let volumes = 0;

/** A folder of the node that a test may fill. */
async function folder(name: string): Promise<string> {
  const path = join(cluster.node(NODE).dir, 'disks', name);
  await mkdir(path, { recursive: true });
  return path;
}

/** A PersistentVolume and the claim that is bound to it; the claim's name is that given, the volume's is answered. */
async function bound(space: Space, claim: string, source: object, more: object = {}): Promise<string> {
  const name = `${space.name}-${claim}-${++volumes}`;
  await volume(name, source, more);
  await space.create(claimOf(claim, name, more));
  await space.wait<{ status?: { phase?: string } }>(
    'PersistentVolumeClaim',
    claim,
    'bound',
    (c) => c.status?.phase === 'Bound',
  );
  return name;
}

async function volume(name: string, source: object, more: object): Promise<void> {
  const spec = {
    ...{ capacity: { storage: '64Mi' }, accessModes: ['ReadWriteOnce'], storageClassName: '' },
    ...{ persistentVolumeReclaimPolicy: 'Retain', ...source, ...more },
  };
  const api = cluster.plane().api;
  await api.post('/api/v1/persistentvolumes', { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name }, spec });
}

function claimOf(name: string, volumeName: string, { volumeMode }: { volumeMode?: string } = {}) {
  const resources = { requests: { storage: '64Mi' } };
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName: '', volumeName, resources, volumeMode };
  return { kind: 'PersistentVolumeClaim', metadata: { name }, spec };
}

/** Only on the node of this name. */
const onNode = (name: string) => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [name] }] }],
    },
  },
});

const claims = (...names: string[]) => names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
const mounted = (name: string, more: object = {}) => ({ volumeMounts: [{ name, mountPath: '/data', ...more }] });

/** A pod put on the node by hand: the scheduler would hold back one whose claim is not there. */
async function podOnNode(
  space: Space,
  name: string,
  containers: Parameters<typeof apiPod>[1],
  more: object,
): Promise<void> {
  await space.create(apiPod(name, containers, { nodeName: NODE, ...more }));
}

async function gone(space: Space, pod: Pod): Promise<void> {
  await space.remove('Pod', pod.metadata?.name ?? '');
  await space.waitGone(pod);
  const root = cluster.node(NODE).agentRoot;
  assert.equal((await readdir(join(root, 'pods'))).includes(uidOf(pod)), false);
}

const mounts = async (of: string) =>
  (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').filter((line) => line.includes(of));

describe('claims', { concurrency: true }, () => {
  for (const kind of ['hostPath', 'local'] as const)
    test(`${kind}: one pod writes, is deleted, and the next one reads`, async () => {
      const space = await cluster.space(kind.toLowerCase());
      const path = await folder(`${kind}-dir`);
      const name = await bound(space, 'data', { [kind]: { path } }, kind === 'local' ? onNode(NODE) : {});
      await podOnNode(space, 'writer', [runs('c', mounted('data'))], { volumes: claims('data') });
      const writer = await space.waitPod('writer', 'ready', isReadyPod);
      await cluster.node(NODE).sh(uidOf(writer), 'c', 'echo kept > /data/file');
      assert.equal(
        (await mounts(`${uidOf(writer)}/volumes/kubernetes.io~local-volume/${name}`)).length,
        kind === 'local' ? 1 : 0,
      );
      await gone(space, writer);
      assert.equal(await readFile(join(path, 'file'), 'utf8'), 'kept\n');
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data', readOnly: true } }];
      await podOnNode(space, 'reader', [runs('c', mounted('data', { subPath: '' }))], { volumes });
      const reader = await space.waitPod('reader', 'ready', isReadyPod);
      const seen = await cluster
        .node(NODE)
        .sh(uidOf(reader), 'c', 'cat /data/file; touch /data/no 2>/dev/null || echo read-only');
      assert.equal(seen, 'kept\nread-only\n');
      await gone(space, reader);
      assert.deepEqual(await mounts(name), []);
      assert.equal(await readFile(join(path, 'file'), 'utf8'), 'kept\n');
    });

  test("a claim that is not there, and then not bound, is told in kubelet's words, and the pod starts once it is", async () => {
    const space = await cluster.space('missing');
    await podOnNode(space, 'waits', [runs('c', mounted('data'))], { volumes: claims('data') });
    const words = (text: string) =>
      `Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC ${space.name}/data: ${text}`;
    const told = await space.waitEvent('waits', 'FailedMount');
    assert.equal(told.message, words('failed to fetch PVC from API server: persistentvolumeclaims "data" not found'));
    await space.create(claimOf('data', `${space.name}-late`));
    await space.waitEvent('waits', 'FailedMount', /PVC is not bound$/);
    await volume(`${space.name}-late`, { hostPath: { path: await folder('late') } }, {});
    const pod = await space.waitPod('waits', 'ready', isReadyPod);
    await gone(space, pod);
  });

  test('a volume of another node is not mounted', async () => {
    const space = await cluster.space('elsewhere');
    const name = await bound(space, 'data', { local: { path: await folder('elsewhere') } }, onNode('elsewhere'));
    await podOnNode(space, 'p', [runs('c', mounted('data'))], { volumes: claims('data') });
    const told = await space.waitEvent('p', 'FailedMount');
    assert.equal(
      told.message,
      `MountVolume.NodeAffinity check failed for volume "${name}" : no matching NodeSelectorTerms`,
    );
    const pod = await space.get<Pod>('Pod', 'p');
    await gone(space, pod);
  });

  test('a disk is formatted and mounted once for two pods, given to fsGroup, and unmounted after the last', async () => {
    const space = await cluster.space('disk');
    await onDisk('disk', async (device) => {
      const name = await bound(space, 'data', { local: { path: device, fsType: 'ext4' } }, onNode(NODE));
      const volumes = claims('data');
      const securityContext = { fsGroup: 4321 };
      await podOnNode(space, 'a', [runs('c', mounted('data'))], { volumes, securityContext });
      const a = await space.waitPod('a', 'ready', isReadyPod);
      await cluster.node(NODE).sh(uidOf(a), 'c', 'mkdir -p /data/sub && echo disk > /data/sub/file');
      assert.match(
        await cluster.node(NODE).sh(uidOf(a), 'c', 'stat -c "%g %a" /data; grep " /data " /proc/mounts'),
        /^4321 2775\n\/dev\/loop\d+ \/data ext4 /,
      );
      await podOnNode(space, 'b', [runs('c', mounted('data', { subPath: 'sub' }))], { volumes, securityContext });
      const b = await space.waitPod('b', 'ready', isReadyPod);
      assert.equal(await cluster.node(NODE).sh(uidOf(b), 'c', 'cat /data/file'), 'disk\n');
      const global = join(cluster.node(NODE).agentRoot, 'plugins/kubernetes.io/local-volume/mounts', name);
      assert.equal((await mounts(` ${global} `)).length, 1);
      await gone(space, a);
      assert.equal((await mounts(` ${global} `)).length, 1, 'the other pod still has it');
      await gone(space, b);
      await waitFor('the disk to be unmounted', async () => ((await mounts(name)).length === 0 ? true : undefined));
    });
  });

  test('a disk is passed as a device', async () => {
    const space = await cluster.space('block');
    await onDisk('block', async (device) => {
      const name = await bound(space, 'data', { local: { path: device } }, { ...onNode(NODE), volumeMode: 'Block' });
      const container = shell('c', 'echo -n block > /dev/xvda && sync && exec sleep 100000', {
        volumeDevices: [{ name: 'data', devicePath: '/dev/xvda' }],
      });
      await podOnNode(space, 'p', [container], { volumes: claims('data') });
      const pod = await space.waitPod('p', 'ready', isReadyPod);
      const root = cluster.node(NODE).agentRoot;
      assert.ok(
        (await stat(join(root, 'pods', uidOf(pod), 'volumeDevices/kubernetes.io~local-volume', name))).isBlockDevice(),
      );
      assert.equal(await cluster.node(NODE).sh(uidOf(pod), 'c', 'head -c 5 /dev/xvda'), 'block');
      await gone(space, pod);
      await waitFor('the device to be given back', async () => ((await mounts(name)).length === 0 ? true : undefined));
      assert.equal((await readFile(device)).subarray(0, 5).toString(), 'block');
    });
  });
});

describe('an agent that starts anew', () => {
  test('finds what is mounted: a pod that runs keeps its disk, and loses it at its end', async () => {
    const space = await cluster.space('again');
    const node = cluster.node(NODE);
    await onDisk('again', async (device) => {
      const name = await bound(space, 'data', { local: { path: device } }, onNode(NODE));
      await podOnNode(space, 'p', [runs('c', mounted('data'))], { volumes: claims('data') });
      const pod = await space.waitPod('p', 'ready', isReadyPod);
      const before = await mounts(name);
      assert.equal(before.length, 2, 'once for the node, once for the pod');
      await node.restart();
      await node.waitReady();
      assert.deepEqual(await mounts(name), before);
      await gone(space, pod);
      await waitFor('the disk to be unmounted', async () => ((await mounts(name)).length === 0 ? true : undefined));
    });
  });

  test('gives back what pods left that ended while nobody was there', async () => {
    const space = await cluster.space('away');
    const node = cluster.node(NODE);
    await onDisk('away', async (device) => {
      const name = await bound(space, 'data', { local: { path: device } }, onNode(NODE));
      await podOnNode(space, 'p', [runs('c', mounted('data'))], { volumes: claims('data') });
      const pod = await space.waitPod('p', 'ready', isReadyPod);
      await node.agent.kill();
      await space.remove('Pod', 'p', { gracePeriodSeconds: 0 });
      await space.waitGone(pod);
      await node.startAgent();
      await waitFor('the disk to be unmounted', async () => ((await mounts(name)).length === 0 ? true : undefined));
      await waitFor("the pod's folder to go", async () =>
        (await readdir(join(node.agentRoot, 'pods'))).includes(uidOf(pod)) ? undefined : true,
      );
    });
  });

  test('gives back a disk that its predecessor died over between unmounting it for the pod and for the node', async () => {
    const space = await cluster.space('between');
    const node = cluster.node(NODE);
    await onDisk('between', async (device) => {
      await run('mkfs.ext4', ['-q', device]);
      const path = join(node.agentRoot, 'plugins/kubernetes.io/local-volume/mounts', `${space.name}-pv`);
      await node.agent.kill();
      await mkdir(path, { recursive: true });
      await run('mount', [device, path]);
      await node.startAgent();
      await waitFor('the disk to be unmounted', async () =>
        (await mounts(` ${path} `)).length === 0 ? true : undefined,
      );
    });
  });
});

test('what a claim holds is in the summary and in the metrics, and volumes are counted by plugin', async () => {
  const space = await cluster.space('figures');
  const node = cluster.node(NODE);
  await onDisk('figures', async (device) => {
    await bound(space, 'data', { local: { path: device } }, onNode(NODE));
    await podOnNode(space, 'p', [runs('c', mounted('data'))], { volumes: claims('data') });
    const pod = await space.waitPod('p', 'ready', isReadyPod);
    await node.sh(uidOf(pod), 'c', 'head -c 4194304 /dev/urandom > /data/file && sync');
    const pvcRef = { name: 'data', namespace: space.name };
    const volumeOf = async () => {
      const { pods } = JSON.parse(await node.readOnly('/stats/summary')) as Summary;
      const its = pods.find(({ podRef }) => podRef.uid === uidOf(pod));
      return its?.volume?.find(({ name }) => name === 'data');
    };
    const told = await waitFor('the volume in the summary', volumeOf);
    assert.deepEqual(told.pvcRef, pvcRef);
    assert.ok(told.capacityBytes > 40 * MIB && told.capacityBytes < 64 * MIB, String(told.capacityBytes));
    assert.ok(told.usedBytes >= 4 * MIB && told.usedBytes < told.capacityBytes);
    const metrics = await node.readOnly('/metrics');
    const labels = `namespace="${space.name}",persistentvolumeclaim="data"`;
    assert.match(metrics, new RegExp(`^kubelet_volume_stats_capacity_bytes\\{${labels}\\} \\d`, 'm'));
    assert.match(
      metrics,
      /^volume_manager_total_volumes\{plugin_name="kubernetes\.io\/local-volume",state="actual_state_of_world"\} [1-9]/m,
    );
    assert.match(
      metrics,
      /^storage_operation_duration_seconds_count\{.*operation_name="volume_mount".*volume_plugin="kubernetes\.io\/local-volume"|^storage_operation_duration_seconds_count\{.*volume_plugin="kubernetes\.io\/local-volume".*operation_name="volume_mount"/m,
    );
    await gone(space, pod);
  });
});

interface Summary {
  pods: {
    podRef: { uid: string };
    volume?: { name: string; pvcRef?: object; capacityBytes: number; usedBytes: number }[];
  }[];
}

/** A loop device for a test, detached after it. */
async function onDisk(name: string, act: (device: string) => Promise<void>): Promise<void> {
  const file = join(await folder('images'), name);
  await writeFile(file, '');
  await run('truncate', ['-s', String(64 * MIB), file]);
  const device = (await run('losetup', ['--show', '-f', file])).stdout.trim();
  try {
    await act(device);
  } finally {
    await run('losetup', ['-d', device]);
  }
}
