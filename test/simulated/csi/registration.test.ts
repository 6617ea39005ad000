/** CSI drivers come and go: real sockets, a fake API server. */
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CsiDrivers } from '../../../actors/resources/csi/csi-drivers.ts';
import { CsiVolumes } from '../../../actors/resources/csi/csi-volumes.ts';
import { until, waitFor } from '../../tools/wait-for.ts';
import { csiBench, NAME, NODES, STORAGE, volume } from './csi-bench.ts';

const TOPOLOGY = { 'topology.example.com/zone': 'a' };

test('a driver registers: the node and its CSINode say so; when it goes neither does', async (t) => {
  const b = await csiBench(t, { journal: true });
  const driver = b.driver({ traits: { nodeId: 'n-7', maxVolumes: 12, topology: TOPOLOGY } });
  await b.comes(driver);
  assert.deepEqual(driver.told, [{ pluginRegistered: true, error: '' }]);
  assert.deepEqual(b.csiNode()?.spec.drivers, [
    { name: NAME, nodeID: 'n-7', topologyKeys: Object.keys(TOPOLOGY), allocatable: { count: 12 } },
  ]);
  const { nodeIds, labels } = b.marks();
  assert.equal(nodeIds, `{"${NAME}":"n-7"}`);
  assert.deepEqual(labels, { here: 'yes', ...TOPOLOGY });
  assert.ok(b.csiNode()?.metadata.annotations?.['storage.alpha.kubernetes.io/migrated-plugins']);

  driver.stop();
  await until(() => b.csiNode()?.spec.drivers?.length === 0, 'CSINode without the driver');
  await until(() => Object.keys(b.drivers.state.drivers).length === 0, 'no driver');
  assert.equal(b.marks().nodeIds, undefined);
  await assert.rejects(b.drivers.client(NAME), {
    message: `driver name ${NAME} not found in the list of registered CSI drivers`,
  });
  const folder = join(b.journalDir, 'csi');
  const journal = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
  for (const word of ['driver.came', 'driver.told', 'csiNode.list', 'node.unmark'])
    assert.ok(journal.includes(word), word);
});

test('a driver that comes back at another socket is met there', async (t) => {
  const b = await csiBench(t);
  b.csiDriver();
  const first = b.driver({ traits: { nodeId: 'one' } });
  await b.comes(first);
  first.stop();
  const second = b.driver({
    socket: join(b.rootDir, 'other.sock'),
    registration: join(b.registry, 'other-reg.sock'),
    traits: { nodeId: 'two' },
  });
  await b.comes(second);
  assert.equal(b.csiNode()?.spec.drivers?.length, 1);
  assert.equal((b.csiNode()?.spec.drivers?.[0] as { nodeID: string }).nodeID, 'two');
  const client = await b.drivers.client(NAME);
  t.after(() => client.close());
  assert.equal((await client.info()).nodeId, 'two');
});

test('a driver is refused, with kubelet’s words, for its versions, its node, or labels that contradict', async (t) => {
  const b = await csiBench(t);
  b.server.put(NODES, { metadata: { name: 'node1', labels: { 'topology.example.com/zone': 'b' } }, spec: {} });
  const refused = async (options: Parameters<typeof b.driver>[0]): Promise<string> => {
    const driver = b.driver(options);
    await driver.start();
    const { error } = await waitFor('a refusal', () => driver.told.find(({ pluginRegistered }) => !pluginRegistered));
    driver.stop();
    await until(() => Object.keys(b.drivers.state.drivers).length === 0, 'no driver');
    return error;
  };
  assert.match(
    await refused({ versions: ['0.3.0'] }),
    /^RegisterPlugin error -- plugin validation failed with err: validation failed for CSI Driver csi\.example\.com at endpoint \S+: kubernetes\.io\/csi: ValidatePlugin for CSI driver "csi\.example\.com" failed\. None of the versions specified \["0\.3\.0"\] are supported\. err=highest supported version reported is 0\.3\.0, must be v1\.x$/,
  );
  assert.match(await refused({ traits: { nodeId: '' } }), /driverNodeID must not be empty$/);
  assert.match(
    await refused({ traits: { topology: TOPOLOGY } }),
    /error updating Node object with CSI driver node info: error updating node: timed out waiting for the condition; caused by: detected topology value collision: driver reported "topology\.example\.com\/zone":"a" but existing label is "topology\.example\.com\/zone":"b"$/,
  );
  assert.deepEqual(b.csiNode()?.spec.drivers ?? [], []);
});

test('a CSINode that cannot be written at once is tried again; one of another node is made anew', async (t) => {
  const b = await csiBench(t);
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'node1', uid: 'of-before' };
  b.server.put(
    { ...STORAGE, resource: 'csinodes' },
    {
      metadata: { name: 'node1', ownerReferences: [owner] },
      spec: { drivers: [{ name: 'old', nodeID: 'x' }] },
    },
  );
  b.server.fault({ verb: 'create', resource: 'csinodes' }, { do: 'fail', code: 500 }, 1);
  await b.comes(b.driver());
  assert.deepEqual(
    (b.csiNode()?.spec.drivers as { name: string }[]).map(({ name }) => name),
    [NAME],
  );
  assert.equal(b.csiNode()?.metadata.ownerReferences?.[0]?.uid, b.nodeUid());
});

test('what the node may hold is asked again as often as the CSIDriver says', async (t) => {
  const b = await csiBench(t);
  const driver = b.driver({ traits: { maxVolumes: 3 } });
  await b.comes(driver);
  driver.traits.maxVolumes = 5;
  b.csiDriver({ nodeAllocatableUpdatePeriodSeconds: 1 });
  // The CSIDriver is heard of by its watch, which begins when one is asked for first.
  const count = () => (b.csiNode()?.spec.drivers?.[0] as { allocatable?: { count?: number } }).allocatable?.count;
  await until(() => count() === 5, 'another count');
});

test('a driver that cannot be told stays registered, and so does one whose socket gets another mode', async (t) => {
  const b = await csiBench(t);
  const names = () => (b.csiNode()?.spec.drivers as { name: string }[] | undefined)?.map(({ name }) => name);
  const deaf = b.driver({ deaf: true });
  await deaf.start();
  await until(() => b.logged.some((line) => line.includes('failed to send registration status')), 'its being told');
  chmodSync(join(b.registry, `${NAME}-reg.sock`), 0o700);
  // By then the folder was looked at again, and what was to be tried again would have been.
  await new Promise((resolve) => setTimeout(resolve, 1_600));
  const [socket, registration] = [join(b.rootDir, 'two.sock'), join(b.rootDir, 'two-reg.sock')];
  const linked = b.driver({ name: 'two.example.com', socket, registration });
  await linked.start();
  symlinkSync(registration, join(b.registry, 'two-reg.sock'));
  await waitFor('the driver behind a link', () => linked.told.find((told) => told.pluginRegistered));
  assert.deepEqual(names(), [NAME, 'two.example.com']);
  assert.equal(deaf.told.length, 1);
});

test('a volume for which the attach limit leaves no room has the driver asked again at once', async (t) => {
  const b = await csiBench(t);
  const driver = b.driver({ traits: { maxVolumes: 3 } });
  await b.comes(driver);
  driver.traits.maxVolumes = 2;
  const spec = b.spec(volume());
  const full = { attached: false, attachError: { message: 'too many', errorCode: 8 } };
  const count = () => (b.csiNode()?.spec.drivers?.[0] as { allocatable?: { count?: number } }).allocatable?.count;
  b.csiDriver({ attachRequired: true });
  b.attach('disk^1', full);
  assert.equal(await b.volumes.foundNoRoom(spec), false, 'its driver does not want that');
  b.csiDriver({ attachRequired: true, nodeAllocatableUpdatePeriodSeconds: 600 });
  await until(() => b.volumes.foundNoRoom(spec), 'the change of the CSIDriver');
  await until(() => count() === 2, 'another count');
  b.attach('disk^1', { attached: false, attachError: { message: 'no such disk', errorCode: 5 } });
  assert.equal(await b.volumes.foundNoRoom(spec), false, 'another error');
  b.attach('disk^1', full);
  const drivers = Object.create(b.drivers, { refreshes: { value: false } }) as CsiDrivers;
  assert.equal(await new CsiVolumes({ ...b.ground, drivers }).foundNoRoom(spec), false, 'without its gate');
});
