/** A node changes hands with volumes in use, whole ones of a CSI driver and parts of others: from actorlet to the reference kubelet, and back. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { mkdir, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { runs } from '../containerd/agent/support/test-pod.ts';
import type { CsiDriver } from '../tools/csi-driver/csi-driver.ts';
import { FolderDriver } from '../tools/flex-driver/folder-driver.ts';
import { lacksTool } from '../tools/reference-tool.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Pod } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { boundClaim, boundTo, driverOf, nothingLeft } from './support/csi-world.ts';
import { apiPod } from './support/manifests.ts';
import { agentUnderTest } from './support/node-config.ts';
import type { AgentKind } from './support/node-config.ts';
import { rememberMachine } from './support/reference-remains.ts';
import { isReadyPod, uidOf } from './support/seen-pods.ts';
import type { Space } from './support/space.ts';

const NODE = 'hands';
const NAME = 'hands.csi.example.com';
const skip = await lacksTool('kubelet');
const volumePluginDir = await mkdtemp(join(tmpdir(), 'flex-'));
const cluster = withCluster({
  nodes: [{ name: NODE, config: { featureGates: { KubeletInUserNamespace: true }, volumePluginDir } }],
});
const drivers: CsiDriver[] = [];
after(async () => {
  drivers.forEach((driver) => driver.stop());
  await rm(volumePluginDir, { recursive: true, force: true });
});

const newDriver = async (name: string): Promise<CsiDriver> => {
  const spec = { attachRequired: false, fsGroupPolicy: 'File', volumeLifecycleModes: ['Persistent'] };
  const driver = await driverOf(cluster.plane(), cluster.node(NODE), name, spec);
  drivers.push(driver);
  return driver;
};

const other = (): AgentKind => (agentUnderTest() === 'actorlet' ? 'kubelet' : 'actorlet');

/** The agent ends, and the other one takes the node over: the driver has registered with it, and the node is ready. */
async function handOver(to: AgentKind, driver: CsiDriver): Promise<void> {
  const node = cluster.node(NODE);
  const before = driver.told.length;
  await node.agent.terminate();
  await node.startAgent(to);
  await waitFor(`the driver to be registered with ${to}`, () =>
    driver.told.slice(before).find((told) => told.pluginRegistered),
  );
  await node.waitSchedulable();
}

const claims = (...names: string[]) => names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
const container = runs('c', {
  volumeMounts: [{ name: 'files', mountPath: '/data' }],
  volumeDevices: [{ name: 'disk', devicePath: '/dev/xvda' }],
});

async function ready(space: Space, name: string): Promise<Pod> {
  await space.create(apiPod(name, [container], { volumes: claims('files', 'disk') }));
  return space.waitPod(name, 'ready', isReadyPod);
}

async function gone(space: Space, pod: Pod): Promise<void> {
  await space.remove('Pod', pod.metadata?.name ?? '');
  await space.waitGone(pod);
  await nothingLeft(cluster.node(NODE), NAME);
}

test('claims in use pass from actorlet to kubelet and from kubelet to actorlet', { skip }, async (t) => {
  const putBack = await rememberMachine();
  t.after(() => putBack());
  const node = cluster.node(NODE);
  const driver = await newDriver(NAME);
  const space = await cluster.space('hands');
  const files = await boundClaim(cluster.plane(), space, NAME, 'files');
  await boundClaim(cluster.plane(), space, NAME, 'disk', { volumeMode: 'Block' });

  const first = await ready(space, 'first');
  const id = await node.containerId(uidOf(first), 'c');
  await node.sh(uidOf(first), 'c', 'echo one > /data/file; echo -n one > /dev/xvda; sync');
  const publishes = () => driver.did.filter((method) => method === 'NodePublishVolume').length;
  assert.equal(publishes(), 2);
  await handOver(other(), driver);
  assert.equal(await node.containerId(uidOf(first), 'c'), id);
  await node.sh(uidOf(first), 'c', 'echo two >> /data/file');
  await gone(space, first);

  const second = await ready(space, 'second');
  const kept = await node.sh(uidOf(second), 'c', 'cat /data/file; head -c 3 /dev/xvda');
  assert.equal(kept, 'one\ntwo\none');
  const secondId = await node.containerId(uidOf(second), 'c');
  await handOver(agentUnderTest(), driver);
  assert.equal(await node.containerId(uidOf(second), 'c'), secondId);
  await node.sh(uidOf(second), 'c', 'echo three >> /data/file');
  await gone(space, second);
  assert.equal(await readFile(join(driver.store.dataOf(`${files}-disk`), 'file'), 'utf8'), 'one\ntwo\nthree\n');
});

const PARTS = 'parts.csi.example.com';

/** Parts of an emptyDir, of a path of the host and of a driver's volume that claims lead to, and one of an inline path. */
const partly = runs('c', {
  volumeMounts: ['empty', 'path', 'files', 'inline'].map((name) => ({
    ...{ name, mountPath: `/${name}`, subPath: 'part/of' },
  })),
});

/** What is mounted below the pod's folder as part of a volume, by its path there; kubelet's own names. */
async function partsOf(uid: string): Promise<string[]> {
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').map((line) => line.split(' ')[4] ?? '');
  const folder = `/pods/${uid}/volume-subpaths/`;
  return [...new Set(mounts.flatMap((path) => path.split(folder)[1] ?? []))].sort();
}

test(
  'parts of volumes (subPath) pass from one agent to the other, and whoever has them takes them away',
  { skip },
  async (t) => {
    const putBack = await rememberMachine();
    t.after(() => putBack());
    const node = cluster.node(NODE);
    const driver = await newDriver(PARTS);
    const space = await cluster.space('parts');
    const paths = ['path', 'inline'].map((name) => join(node.dir, `parts-${name}`));
    for (const path of paths) await mkdir(path);
    const [path = '', inline = ''] = paths;
    const files = await boundClaim(cluster.plane(), space, PARTS, 'files');
    const ofHost = await boundTo(cluster.plane(), space, 'path', { hostPath: { path } });
    const volumes = [
      { name: 'empty', emptyDir: {} },
      { name: 'inline', hostPath: { path: inline } },
      ...claims('files', 'path'),
    ];
    const expected = ['empty/c/0', `${ofHost}/c/1`, `${files}/c/2`, 'inline/c/3'].sort();
    const agents = [agentUnderTest(), other()];
    for (const [turn, agent] of agents.entries()) {
      const name = `pod-${turn}`;
      await space.create(apiPod(name, [partly], { volumes }));
      const pod = await space.waitPod(name, 'ready', isReadyPod);
      const uid = uidOf(pod);
      assert.deepEqual(await partsOf(uid), expected, `made by ${agent}`);
      await node.sh(uid, 'c', `for v in empty path files inline; do echo ${turn} >> /$v/file; done`);
      await handOver(agents[1 - turn] ?? agent, driver);
      assert.equal(await node.sh(uid, 'c', 'sort -u /path/file /files/file | tail -n 1'), `${turn}\n`);
      await space.remove('Pod', name);
      await space.waitGone(pod);
      await nothingLeft(node, PARTS);
      await waitFor(
        'nothing of its folder',
        async () => {
          const folders = await readdir(join(node.agentRoot, 'pods'));
          return !folders.includes(uid) && (await partsOf(uid)).length === 0 ? true : undefined;
        },
        async () => (await partsOf(uid)).join('\n'),
      );
    }
    for (const folder of [...paths, driver.store.dataOf(`${files}-disk`)])
      assert.equal(await readFile(join(folder, 'part/of/file'), 'utf8'), '0\n1\n');
  },
);

const AZURE = 'disk.csi.azure.com';
const DISK_URI = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d';

test(
  'FlexVolumes and inline volumes of clouds pass, too: both agents have the same folders for them',
  { skip },
  async (t) => {
    const putBack = await rememberMachine();
    t.after(() => putBack());
    const node = cluster.node(NODE);
    const azure = await newDriver(AZURE);
    const flex = new FolderDriver(volumePluginDir, 'example.com', 'hands');
    const space = await cluster.space('old');
    const volumes = [
      { name: 'flex', flexVolume: { driver: 'example.com/hands', options: { folder: 'one' } } },
      { name: 'cloud', azureDisk: { diskName: 'd', diskURI: DISK_URI, kind: 'Managed' } },
    ];
    const both = runs('c', { volumeMounts: ['flex', 'cloud'].map((name) => ({ name, mountPath: `/${name}` })) });
    const agents = [agentUnderTest(), other()];
    for (const [turn, agent] of agents.entries()) {
      const name = `pod-${turn}`;
      await space.create(apiPod(name, [both], { volumes }));
      const pod = await space.waitPod(name, 'ready', isReadyPod);
      const uid = uidOf(pod);
      const folders = await readdir(join(node.agentRoot, 'pods', uid, 'volumes'), { recursive: true });
      for (const each of ['example.com~hands/flex', `kubernetes.io~csi/${DISK_URI.replaceAll('/', '~')}/vol_data.json`])
        assert.ok(folders.includes(each), `made by ${agent}: ${folders.join(' ')}`);
      await node.sh(uid, 'c', `for v in flex cloud; do echo ${turn} >> /$v/file; done`);
      await handOver(agents[1 - turn] ?? agent, azure);
      assert.equal(await node.sh(uid, 'c', 'sort -u /flex/file /cloud/file | tail -n 1'), `${turn}\n`);
      await space.remove('Pod', name);
      await space.waitGone(pod);
      await nothingLeft(node, AZURE);
      await waitFor('nothing of its folder', async () =>
        (await readdir(join(node.agentRoot, 'pods'))).includes(uid) ? undefined : true,
      );
    }
    for (const folder of [flex.volume('one'), azure.store.dataOf(DISK_URI)])
      assert.equal(await readFile(join(folder, 'file'), 'utf8'), '0\n1\n');
    assert.deepEqual(
      flex.did.filter((call) => /mount$/.test(call)),
      ['mount', 'unmount', 'mount', 'unmount'],
    );
  },
);
