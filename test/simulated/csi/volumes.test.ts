/** Volumes of a CSI driver: real sockets and gRPC, a fake API server. The driver's mounts are folders with a mark. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { VolumeFailure } from '../../../actors/resources/volumes/volume-plugin.ts';
import { CsiVolumes } from '../../../actors/resources/csi/csi-volumes.ts';
import { stagingPath } from '../../../actors/resources/csi/csi-names.ts';
import { readVolumeData } from '../../../machines/csi/volume-data.ts';
import { PLAIN_MARK } from '../../tools/csi-driver/volume-store.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { csiBench, NAME, POD, volume } from './csi-bench.ts';

const SECRETS = { group: '', version: 'v1', resource: 'secrets' };
const HUSH = 'Sesame-9f2c';
const failing = (error: unknown, done: boolean, message: RegExp): true => {
  assert.match((error as VolumeFailure).message, message);
  assert.equal((error as VolumeFailure).done, done);
  return true;
};

test('stage, publish, unpublish and unstage, in kubelet’s folders, also by another agent than began; secrets stand nowhere', async (t) => {
  const b = await csiBench(t, { journal: true });
  b.csiDriver({ attachRequired: true, podInfoOnMount: true });
  b.server.put(SECRETS, {
    metadata: { name: 's', namespace: 'safe' },
    data: { key: Buffer.from(HUSH).toString('base64') },
  });
  const driver = b.driver();
  await b.comes(driver);
  const reference = { name: 's', namespace: 'safe' };
  const secrets = { nodeStageSecretRef: reference, nodePublishSecretRef: reference };
  const spec = b.spec(volume({ mountOptions: ['noatime'] }, secrets));
  assert.equal(await b.volumes.deviceName(spec, POD), `${NAME}^disk^1`);
  assert.equal(await b.volumes.attachable(spec), true);
  const name = b.attach('disk^1', { attached: true, attachmentMetadata: { lun: '3' } });
  assert.equal(await b.volumes.waitForAttach({ spec, signal: b.signal }), name);
  const stagedPath = await b.volumes.stage({ spec, pod: POD, devicePath: name, signal: b.signal });
  assert.equal(stagedPath, stagingPath(b.rootDir, NAME, 'disk^1'));
  const path = await b.volumes.publish(b.publishing(spec, { stagedPath }));
  assert.equal(path, join(b.rootDir, 'pods/pod-uid-1/volumes/kubernetes.io~csi/pv-1/mount'));
  assert.equal(readFileSync(join(path, PLAIN_MARK), 'utf8'), 'disk^1');
  assert.equal(
    readFileSync(join(path, '../vol_data.json'), 'utf8'),
    `{"attachmentID":"${name}","driverName":"${NAME}","nodeName":"node1","specVolID":"pv-1","volumeHandle":"disk^1","volumeLifecycleMode":"Persistent"}\n`,
  );
  assert.equal(
    readFileSync(join(stagedPath, '../vol_data.json'), 'utf8'),
    `{"driverName":"${NAME}","volumeHandle":"disk^1"}\n`,
  );
  const [staging, publishing] = ['NodeStageVolume', 'NodePublishVolume'].map(
    (method) => driver.calls.find((call) => call.method === method)?.request,
  );
  const mount = { fsType: 'ext4', mountFlags: ['noatime'], volumeMountGroup: '' };
  assert.deepEqual(staging, {
    ...{ volumeId: 'disk^1', publishContext: { lun: '3' }, stagingTargetPath: stagedPath, secrets: { key: HUSH } },
    ...{ volumeCapability: { mount, accessMode: { mode: 1 }, block: undefined }, volumeContext: { size: 'big' } },
  });
  assert.deepEqual(publishing?.['volumeContext'], {
    size: 'big',
    'csi.storage.k8s.io/pod.name': 'web',
    'csi.storage.k8s.io/pod.namespace': 'shop',
    'csi.storage.k8s.io/pod.uid': 'pod-uid-1',
    'csi.storage.k8s.io/serviceAccount.name': 'shopkeeper',
    'csi.storage.k8s.io/ephemeral': 'false',
  });
  assert.equal(publishing['stagingTargetPath'], stagedPath);

  // Another agent knows nothing but what lies on the disk.
  const other = new CsiVolumes(b.ground);
  const { path: folder, ...where } = b.unpublishing(spec);
  assert.deepEqual(await other.publishedOnDisk({ ...where, path: folder }), {
    deviceName: `${NAME}^disk^1`,
    attachable: true,
    name: 'pv-1',
  });
  assert.deepEqual(await other.stagedOnDisk(), [
    { deviceName: `${NAME}^disk^1`, name: '', mode: 'Filesystem', stagedPath, attachable: true },
  ]);
  await other.unpublish(b.unpublishing(spec));
  assert.equal(existsSync(folder), false);
  const unstaging = {
    deviceName: `${NAME}^disk^1`,
    name: '',
    mode: 'Filesystem',
    stagedPath: '',
    signal: b.signal,
  } as const;
  await other.unstage(unstaging);
  assert.equal(existsSync(join(stagedPath, '..')), false);
  assert.deepEqual(driver.did, ['NodeStageVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnstageVolume']);
  // Both may be asked for again.
  await other.unpublish(b.unpublishing(spec));
  await other.unstage(unstaging);
  assert.equal(driver.did.length, 4);
  assert.ok(b.reports.some(({ method, code }) => method === '/csi.v1.Node/NodeStageVolume' && code === 'OK'));
  assert.equal(b.logged.join('').includes(HUSH), false);
  assert.equal(b.journalText().includes(HUSH), false);
});

test('calls for a volume that a driver has taken over are told as such, but for those that take it down', async (t) => {
  const b = await csiBench(t);
  b.csiDriver();
  const driver = b.driver();
  await b.comes(driver);
  const spec = { ...b.spec(volume()), migrated: true as const };
  b.reports.length = 0;
  const stagedPath = await b.volumes.stage({ spec, pod: POD, devicePath: '', signal: b.signal });
  await b.volumes.publish(b.publishing(spec, { stagedPath }));
  await b.volumes.unpublish(b.unpublishing(spec));
  const told = (name: string) => b.reports.find(({ method }) => method === `/csi.v1.Node/${name}`)?.migrated;
  assert.deepEqual(['NodeGetCapabilities', 'NodeStageVolume', 'NodePublishVolume', 'NodeUnpublishVolume'].map(told), [
    true,
    true,
    true,
    undefined,
  ]);
});

test('an attachment that is not there yet, fails, goes, or is missing says so at once', async (t) => {
  const b = await csiBench(t);
  b.csiDriver({ attachRequired: true });
  const spec = b.spec(volume());
  const wait = () => b.volumes.waitForAttach({ spec, signal: b.signal });
  await assert.rejects(
    wait(),
    /^Error: volume disk\^1 has GET error for volume attachment csi-[0-9a-f]{64}: .*not found/,
  );
  const name = b.attach('disk^1', { attached: false });
  await assert.rejects(wait(), { message: `volume disk^1 is not attached for volume attachment ${name}` });
  b.attach('disk^1', { attached: true });
  assert.equal(await wait(), name);
  b.attach('disk^1', { attached: false, attachError: { message: 'no such bus' } });
  await assert.rejects(wait(), { message: 'no such bus' });
  b.attach('disk^1', { attached: true }, { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'] });
  await assert.rejects(wait(), { message: 'volume attachment is being deleted' });
});

test('what fails is final or uncertain, and leaves a data file only when it is uncertain', async (t) => {
  const b = await csiBench(t, { timeoutMs: 1_500 });
  b.csiDriver();
  const spec = b.spec(volume());
  const stage = () => b.volumes.stage({ spec, pod: POD, devicePath: '', signal: b.signal });
  await assert.rejects(stage(), (error) =>
    failing(
      error,
      true,
      /^kubernetes\.io\/csi: attacher\.MountDevice failed to create newCsiDriverClient: driver name csi\.example\.com not found in the list of registered CSI drivers$/,
    ),
  );
  const driver = b.driver();
  await b.comes(driver);
  const data = join(stagingPath(b.rootDir, NAME, 'disk^1'), '../vol_data.json');
  driver.faults.set('NodeStageVolume', { code: 13, text: 'disk on fire' });
  await assert.rejects(stage(), (error) => failing(error, true, /^rpc error: code = Internal desc = disk on fire$/));
  assert.equal(existsSync(data), false);
  driver.faults.set('NodeStageVolume', { code: 10, text: 'pending', after: true });
  await assert.rejects(stage(), (error) => failing(error, false, /^rpc error: code = Aborted desc = pending$/));
  assert.equal(readVolumeData(readFileSync(data, 'utf8'))?.volumeHandle, 'disk^1');
  driver.faults.set('NodeStageVolume', null);
  const stagedPath = await stage();
  driver.faults.set('NodePublishVolume', { hang: true });
  await assert.rejects(b.volumes.publish(b.publishing(spec, { stagedPath })), (error) =>
    failing(error, false, /^rpc error: code = DeadlineExceeded desc = context deadline exceeded$/),
  );
  // It is to be taken down though it never answered.
  await b.volumes.unpublish(b.unpublishing(spec));
  driver.faults.set('NodeUnstageVolume', { code: 13, text: 'busy', times: 1 });
  const unstaging = {
    deviceName: `${NAME}^disk^1`,
    name: 'pv-1',
    mode: 'Filesystem',
    stagedPath,
    signal: b.signal,
  } as const;
  await assert.rejects(
    b.volumes.unstage(unstaging),
    /attacher\.UnmountDevice failed: rpc error: code = Internal desc = busy$/,
  );
  assert.ok(existsSync(data));
  await b.volumes.unstage(unstaging);
  assert.equal(existsSync(data), false);
});

test('a call is broken off when nobody wants its outcome; a socket without a driver says so in Go’s words', async (t) => {
  const b = await csiBench(t);
  b.csiDriver();
  const driver = b.driver();
  await b.comes(driver);
  driver.faults.set('NodeStageVolume', { hang: true });
  const end = new AbortController();
  const staging = b.volumes.stage({ spec: b.spec(volume()), pod: POD, devicePath: '', signal: end.signal });
  await waitFor('the call', () => driver.did[0]);
  end.abort();
  await assert.rejects(staging, (error) =>
    failing(error, false, /^rpc error: code = Canceled desc = context canceled$/),
  );
  const client = await b.drivers.client(NAME);
  t.after(() => client.close());
  driver.stop(true);
  await assert.rejects(
    client.info(),
    /rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix \S+csi\.sock: connect: (no such file or directory|connection refused)"$/,
  );
});

test('an inline volume, with a token, health, and what only a pod has', async (t) => {
  const b = await csiBench(t);
  const spec = {
    ...{ name: 'scratch', pv: null, claim: null, readOnly: false, mode: 'Filesystem' as const },
    volume: { name: 'scratch', csi: { driver: NAME, volumeAttributes: { a: 'b' } } },
  };
  const expires = '2030-01-01T00:00:00Z';
  b.server.reply({ subresource: 'token' }, () => ({
    code: 201,
    body: { status: { token: HUSH, expirationTimestamp: expires }, spec: { expirationSeconds: 3600 } },
  }));
  const driver = b.driver({
    traits: { capabilities: ['GET_VOLUME_STATS', 'VOLUME_CONDITION', 'SINGLE_NODE_MULTI_WRITER'] },
  });
  await b.comes(driver);
  const publish = () => b.volumes.publish(b.publishing(spec));
  await assert.rejects(publish(), {
    message: `kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: volume mode "Ephemeral" not supported by driver ${NAME} (no CSIDriver object)`,
  });
  b.csiDriver({ tokenRequests: [{ audience: 'vault' }], requiresRepublish: true });
  const path = await waitFor('the CSIDriver', publish);
  assert.equal(await b.volumes.stages(spec), false);
  assert.equal(await b.volumes.attachable(spec), false);
  assert.equal(await b.volumes.republishes(spec), true);
  const request = driver.calls.find(({ method }) => method === 'NodePublishVolume')?.request;
  assert.match(String(request?.['volumeId']), /^csi-[0-9a-f]{64}$/);
  assert.deepEqual(request?.['volumeCapability'], {
    ...{ mount: { fsType: '', mountFlags: [], volumeMountGroup: '' }, block: undefined, accessMode: { mode: 7 } },
  });
  const attributes = request['volumeContext'] as Record<string, string>;
  assert.deepEqual(JSON.parse(attributes['csi.storage.k8s.io/serviceAccount.tokens'] ?? ''), {
    vault: { token: HUSH, expirationTimestamp: expires },
  });
  const usage = await b.volumes.usage({ spec, path, signal: b.signal });
  assert.equal(b.volumes.countedBy(spec), NAME);
  assert.equal(usage?.capacityBytes, 1 << 20);
  assert.equal(usage.usedBytes, 4096);
  assert.deepEqual(usage.health, { abnormal: false, message: 'as it is' });
  await b.volumes.unpublish(b.unpublishing(spec));
  assert.equal(b.logged.join('').includes(HUSH), false);
});

test('expansion, and who cannot', async (t) => {
  const b = await csiBench(t);
  b.csiDriver();
  const driver = b.driver();
  await b.comes(driver);
  const spec = b.spec(volume());
  const stagedPath = await b.volumes.stage({ spec, pod: POD, devicePath: '', signal: b.signal });
  const call = {
    spec,
    stagedPath,
    publishedPath: '/p',
    devicePath: '',
    oldBytes: 1,
    newBytes: 4 << 20,
    signal: b.signal,
  };
  assert.equal(await b.volumes.expand(call), 4 << 20);
  driver.faults.set('NodeExpandVolume', { code: 11, text: 'too big' });
  await assert.rejects(b.volumes.expand(call), {
    message: 'Expander.NodeExpand failed to expand the volume rpc error: code = OutOfRange desc = too big',
    code: 'OutOfRange',
  });
  driver.traits.capabilities = [];
  await assert.rejects(b.volumes.expand(call), { message: `NodeExpand is not supported by the CSI driver ${NAME}` });
});

test('a device is made larger by the path that its driver published it at, and what its driver leaves is removed', async (t) => {
  const b = await csiBench(t);
  b.csiDriver();
  const driver = b.driver();
  await b.comes(driver);
  const spec = b.spec(volume(), 'Block');
  const stagedPath = await b.volumes.stage({ spec, pod: POD, devicePath: '', signal: b.signal });
  const published = await b.volumes.publish(b.publishing(spec, { stagedPath }));
  const link = join(b.rootDir, 'link');
  symlinkSync(published, link);
  const sizes = { oldBytes: 1, newBytes: 4 << 20 };
  await b.volumes.expand({ spec, stagedPath, publishedPath: link, devicePath: '', ...sizes, signal: b.signal });
  const asked = driver.calls.find(({ method }) => method === 'NodeExpandVolume')?.request;
  assert.deepEqual([asked?.['volumePath'], asked?.['stagingTargetPath']], [published, stagedPath]);
  await b.volumes.unpublish(b.unpublishing(spec));
  driver.store.hide = (target) => writeFileSync(join(target, 'left'), '');
  await b.volumes.unstage({ deviceName: '', name: 'pv-1', mode: 'Block', stagedPath, signal: b.signal });
  assert.equal(existsSync(stagedPath), false);
  assert.deepEqual(await b.volumes.stagedOnDisk(), []);
});

test('secrets of a device, and of its growth, that are not there', async (t) => {
  const b = await csiBench(t);
  b.csiDriver();
  const driver = b.driver();
  await b.comes(driver);
  const reference = { name: 's', namespace: 'safe' };
  const missing =
    'kubernetes.io/csi: failed to find the secret s in the namespace safe with error: secrets "s" not found';
  const spec = (secret: string) => b.spec(volume({}, { [secret]: reference }), 'Block');
  await assert.rejects(
    b.volumes.stage({ spec: spec('nodeStageSecretRef'), pod: POD, devicePath: '', signal: b.signal }),
    { message: `kubernetes.io/csi: failed to get NodeStageSecretRef safe/s: ${missing}` },
  );
  await assert.rejects(b.volumes.publish(b.publishing(spec('nodePublishSecretRef'))), {
    message: `kubernetes.io/csi: blockMapper.publishVolumeForBlock failed to get NodePublishSecretRef safe/s: ${missing}`,
  });
  const sizes = { oldBytes: 1, newBytes: 4 << 20 };
  const place = { stagedPath: '', publishedPath: '', devicePath: '', ...sizes, signal: b.signal };
  await assert.rejects(b.volumes.expand({ spec: spec('nodeExpandSecretRef'), ...place }), {
    message: `expander.NodeExpand failed to get NodeExpandSecretRef safe/s: ${missing}`,
  });
});

test('a device has kubelet’s places, and both its ends', async (t) => {
  const b = await csiBench(t);
  b.csiDriver({ podInfoOnMount: true, tokenRequests: [{ audience: 'none for devices' }] });
  const driver = b.driver();
  await b.comes(driver);
  const spec = b.spec(volume(), 'Block');
  const devices = join(b.rootDir, 'plugins/kubernetes.io/csi/volumeDevices');
  const stagedPath = await b.volumes.stage({ spec, pod: POD, devicePath: '', signal: b.signal });
  assert.equal(stagedPath, join(devices, 'staging/pv-1'));
  assert.equal(b.volumes.globalMapPath({ name: 'pv-1' }), join(devices, 'pv-1/dev'));
  const published = await b.volumes.publish(b.publishing(spec, { stagedPath }));
  assert.equal(published, join(devices, 'publish/pv-1/pod-uid-1'));
  assert.ok(existsSync(published));
  const request = driver.calls.find(({ method }) => method === 'NodePublishVolume')?.request;
  assert.deepEqual(request?.['volumeCapability'], { block: {}, mount: undefined, accessMode: { mode: 1 } });
  assert.equal(request['stagingTargetPath'], stagedPath);
  assert.equal(
    (request['volumeContext'] as object & { 'csi.storage.k8s.io/pod.name'?: string })['csi.storage.k8s.io/pod.name'],
    'web',
  );
  const other = new CsiVolumes(b.ground);
  const [found] = await other.stagedOnDisk();
  assert.deepEqual(found, {
    ...{ deviceName: `${NAME}^disk^1`, name: 'pv-1', mode: 'Block', stagedPath, attachable: false },
  });
  assert.deepEqual(await other.publishedOnDisk(b.unpublishing(spec)), {
    deviceName: `${NAME}^disk^1`,
    attachable: false,
    name: 'pv-1',
  });
  await other.unpublish(b.unpublishing(spec));
  await other.unstage({ ...found, signal: b.signal });
  assert.deepEqual(driver.did, ['NodeStageVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnstageVolume']);
  assert.equal(existsSync(join(devices, 'pv-1')) || existsSync(published) || existsSync(stagedPath), false);
  await other.unpublish(b.unpublishing(spec));
  assert.equal(driver.did.length, 4);
});

test('who owns the files: the driver when it can, else the agent', async (t) => {
  const b = await csiBench(t);
  b.csiDriver();
  const driver = b.driver();
  await b.comes(driver);
  const spec = b.spec(volume());
  const fsGroup = process.getgid?.() ?? 0;
  const group = () =>
    driver.calls
      .filter(({ method }) => method === 'NodeStageVolume' || method === 'NodePublishVolume')
      .map(
        ({ request }) =>
          (request['volumeCapability'] as { mount: { volumeMountGroup: string } }).mount.volumeMountGroup,
      );
  const given: boolean[] = [];
  const make = async () => {
    const stagedPath = await b.volumes.stage({ spec, pod: POD, devicePath: '', fsGroup, signal: b.signal });
    const ownership = { podUid: 'u', over: (_s: number, failed: boolean) => given.push(failed) };
    const more = { stagedPath, fsGroup, fsGroupChangePolicy: 'OnRootMismatch', ownership };
    return b.volumes.publish(b.publishing(spec, more));
  };
  const path = await make();
  assert.equal(statSync(path).mode & 0o2070, 0o2070);
  assert.deepEqual(group(), ['', '']);
  await b.volumes.unpublish(b.unpublishing(spec));
  const stagedPath = stagingPath(b.rootDir, NAME, 'disk^1');
  await b.volumes.unstage({ deviceName: '', name: '', mode: 'Filesystem', stagedPath, signal: b.signal });
  driver.traits.capabilities = [...driver.traits.capabilities, 'VOLUME_MOUNT_GROUP'];
  assert.equal(statSync(await make()).mode & 0o2000, 0);
  assert.deepEqual(group().slice(2), [String(fsGroup), String(fsGroup)]);
  assert.deepEqual(given, [false], 'the agent did so once');
});

test('a volume of a driver that went is taken down when it is back, at another socket', async (t) => {
  const b = await csiBench(t);
  b.csiDriver({ seLinuxMount: true });
  const first = b.driver();
  await b.comes(first);
  const spec = b.spec(volume({ accessModes: ['ReadWriteOncePod'], mountOptions: ['ro'] }));
  const label = 'system_u:object_r:container_file_t:s0:c1,c2';
  const { volumes } = b;
  const stagedPath = await volumes.stage({ spec, pod: POD, devicePath: '', seLinuxLabel: label, signal: b.signal });
  assert.deepEqual(
    (await volumes.stagedOnDisk()).map((staged) => staged.label),
    [label],
  );
  await volumes.publish({ ...b.publishing(spec, { stagedPath }), seLinuxLabel: label });
  const mount = first.calls.find(({ method }) => method === 'NodeStageVolume')?.request['volumeCapability'];
  assert.deepEqual((mount as { mount: { mountFlags: string[] } }).mount.mountFlags, ['ro', `context="${label}"`]);
  const stood = readVolumeData(readFileSync(join(b.unpublishing(spec).path, 'vol_data.json'), 'utf8'));
  assert.equal(stood?.seLinuxMountContext, label);
  first.stop();
  await waitFor('its end', () => (Object.keys(b.drivers.state.drivers).length === 0 ? true : undefined));
  const taking = () => volumes.unpublish(b.unpublishing(spec));
  await assert.rejects(taking(), {
    message: `kubernetes.io/csi: Unmounter.TearDownAt failed to get CSI client: driver name ${NAME} not found in the list of registered CSI drivers`,
  });
  const second = b.driver({ socket: join(b.rootDir, 'other.sock'), registration: join(b.registry, 'other-reg.sock') });
  await b.comes(second);
  await taking();
  await volumes.unstage({ deviceName: `${NAME}^disk^1`, name: '', mode: 'Filesystem', stagedPath, signal: b.signal });
  assert.deepEqual(second.did, ['NodeUnpublishVolume', 'NodeUnstageVolume']);
  assert.equal(existsSync(stagedPath), false);
});

test('a driver that hangs holds up no other volume', async (t) => {
  const b = await csiBench(t);
  b.csiDriver();
  const driver = b.driver();
  await b.comes(driver);
  driver.faults.set('NodeStageVolume', { hang: true, times: 1 });
  const end = new AbortController();
  const stuck = b.volumes.stage({ spec: b.spec(volume()), pod: POD, devicePath: '', signal: end.signal });
  const outcome = assert.rejects(stuck);
  await waitFor('the call', () => driver.did[0]);
  const other = b.spec({ ...volume({}, { volumeHandle: 'disk-2' }), metadata: { name: 'pv-2' } });
  const stagedPath = await b.volumes.stage({ spec: other, pod: POD, devicePath: '', signal: b.signal });
  await b.volumes.publish(b.publishing(other, { stagedPath }));
  end.abort();
  await outcome;
});
