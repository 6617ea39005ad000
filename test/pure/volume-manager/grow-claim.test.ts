/** The node's part in the growth of claims: what the driver is asked, and what claim and events say of it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ClaimGrower } from '../../../actors/resources/volumes/grow-claim.ts';
import type { LookedUp } from '../../../actors/resources/volumes/looked-up.ts';
import { VolumeFailure } from '../../../actors/resources/volumes/volume-plugin.ts';
import type { ExpandCall, VolumePlugin } from '../../../actors/resources/volumes/volume-plugin.ts';
import type { PersistentVolumeClaim } from '../../../machines/protocol/storage-types.ts';
import { parseBytes } from '../../../machines/values/quantity.ts';
import { memoryLog } from '../journal/journal-fixture.ts';
import { ClaimServer } from './claim-server.ts';

const GIB = 2 ** 30;
const PENDING = { allocatedResources: { storage: '2Gi' }, allocatedResourceStatuses: { storage: 'NodeResizePending' } };

/** A node and a claim of 1Gi whose PV has 2Gi by now; `status`: what more the claim says. */
function bench(status: object = PENDING, spec: PersistentVolumeClaim['spec'] = {}, readOnly = false) {
  const server = new ClaimServer({
    metadata: { namespace: 'ns', name: 'data', uid: 'c1' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec },
    status: { capacity: { storage: '1Gi' }, ...status },
  });
  const asked: string[] = [];
  const events: string[] = [];
  let fails: VolumeFailure | null = null;
  const plugin: Partial<VolumePlugin> = {
    expand: ({ oldBytes, newBytes, publishedPath, stagedPath }: ExpandCall) => {
      asked.push(`${oldBytes / GIB} -> ${newBytes / GIB} at ${publishedPath} of ${stagedPath}`);
      return fails === null ? Promise.resolve(newBytes) : Promise.reject(fails);
    },
  };
  const its = (): LookedUp => ({
    pod: { metadata: { namespace: 'ns', name: 'web', uid: 'p1' }, spec: { nodeName: 'n', containers: [] } },
    spec: {
      ...{ name: 'pv-1', pv: { spec: { capacity: { storage: '2Gi' } } }, claim: server.claim(), readOnly },
      ...{ volume: { name: 'v' }, mode: 'Filesystem' },
    },
    plugin: plugin as VolumePlugin,
    device: 'd',
    seLinuxLabel: '',
  });
  const newGrower = () =>
    new ClaimGrower({
      objects: () => server.objects,
      record: ({ object, type, reason, message }) =>
        void events.push(`${object.kind}/${object.name} ${type} ${reason}: ${message}`),
      clock: { now: () => 1_000 },
      log: memoryLog().log,
    });
  let grower = newGrower();
  const place = { publishedPath: '/pod', stagedPath: '/staged', devicePath: '', signal: new AbortController().signal };
  return {
    ...{ server, asked, events },
    fail: (code: string, text: string) => void (fails = new VolumeFailure(code, text)),
    works: () => void (fails = null),
    /** The agent dies, and another begins. */
    restart: () => void (grower = newGrower()),
    atMount: () => grower.atMount(its(), place),
    inUse: (from = '1Gi', to = '2Gi') =>
      grower.inUse(its(), { ...place, oldBytes: parseBytes(from), newBytes: parseBytes(to) }),
  };
}

const ASKED = '1 -> 2 at /pod of /staged';
const GROWN = ['Pod/web', 'PersistentVolumeClaim/data'].map(
  (whose) => `${whose} Normal FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume "pv-1" n`,
);
const notGrown = { code: 'NotGrown' };

describe('before containers find it', () => {
  test('a volume grows once: the claim says that it begins, and its size when it is done', async () => {
    const b = bench();
    await b.atMount();
    assert.deepEqual([b.asked, b.events], [[ASKED], GROWN]);
    assert.deepEqual(b.server.told, ['NodeResizeInProgress', '2Gi']);
    assert.equal(await b.inUse(), 2 * GIB, 'it is known to be grown');
    assert.deepEqual(b.asked, [ASKED]);
  });

  test('one whose turn it is not is mounted as it is', async () => {
    const b = bench({ ...PENDING, allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } });
    await b.atMount();
    assert.deepEqual([b.asked, b.events, b.server.told], [[], [], []]);
    await assert.rejects(b.inUse(), notGrown);
  });

  test('one that is read only stays as it is, which pod and claim are told', async () => {
    const b = bench(PENDING, {}, true);
    await b.atMount();
    assert.deepEqual(b.asked, []);
    assert.deepEqual(
      b.events,
      ['Pod/web', 'PersistentVolumeClaim/data'].map(
        (whose) =>
          `${whose} Warning FileSystemResizeFailed: MountVolume.NodeExpandVolume failed for volume "pv-1" requested read-only file system`,
      ),
    );
  });

  test('one that a driver will never make so large is mounted at the second try', async () => {
    const b = bench();
    b.fail('OutOfRange', 'too big');
    await assert.rejects(b.atMount(), { message: 'too big' });
    assert.deepEqual(b.server.told, ['NodeResizeInProgress', 'NodeResizeInfeasible']);
    assert.deepEqual(b.server.claim().status?.conditions, [
      {
        ...{ type: 'NodeResizeError', status: 'True', lastTransitionTime: '1970-01-01T00:00:01Z' },
        message: 'failed to expand pvc with too big',
      },
    ]);
    await b.atMount();
    assert.deepEqual([b.asked.length, b.events], [1, []]);
  });

  test('the growth of an agent that died goes on', async () => {
    const b = bench();
    b.fail('Unavailable', 'away');
    await assert.rejects(b.atMount());
    b.restart();
    b.works();
    await b.atMount();
    assert.deepEqual(b.server.told, ['NodeResizeInProgress', 'NodeResizeError', '2Gi']);
    assert.equal(b.server.claim().status?.conditions?.length, 0, 'the error is over');
    assert.deepEqual(b.events, GROWN);
  });

  test('a claim whose resizer is an old one is told of the end only', async () => {
    const b = bench({});
    b.fail('Internal', 'broken');
    await assert.rejects(b.atMount(), { message: 'broken' });
    assert.deepEqual(b.server.told, []);
    b.fail('NotSupported', 'NodeExpand is not supported by the CSI driver d');
    await b.atMount();
    assert.deepEqual([b.server.told, b.events], [[], []]);
  });
});

describe('while pods have it', () => {
  test('a volume that fails to grow is tried again; a driver that does not do so in use is not', async () => {
    const b = bench();
    b.fail('Internal', 'broken');
    await assert.rejects(b.inUse(), { code: 'Internal', message: 'broken' });
    assert.deepEqual(b.server.told, ['NodeResizeInProgress', 'NodeResizeError']);
    b.fail('FailedPrecondition', 'in use');
    await assert.rejects(b.inUse(), notGrown);
    b.works();
    await assert.rejects(b.inUse(), notGrown);
    assert.equal(b.asked.length, 2);
    assert.deepEqual(b.events, []);
  });

  test('of ReadWriteMany grows on this node though another one has told the claim', async () => {
    const b = bench(
      { capacity: { storage: '2Gi' }, allocatedResources: { storage: '2Gi' } },
      { accessModes: ['ReadWriteMany'] },
    );
    assert.equal(await b.inUse(), 2 * GIB);
    assert.deepEqual([b.asked, b.events, b.server.told], [[ASKED], GROWN, []]);
    assert.equal(await b.inUse(), 2 * GIB);
    assert.equal(b.asked.length, 1);
  });

  test('a failure ends a growth that its claim does not ask for any more', async () => {
    const b = bench(PENDING, { resources: { requests: { storage: '1500Mi' } } });
    b.fail('Internal', 'broken');
    await assert.rejects(b.inUse());
    await assert.rejects(b.inUse());
    assert.deepEqual(b.server.told, ['NodeResizeInProgress', 'NodeResizeError', 'NodeResizeInfeasible']);
    await assert.rejects(b.inUse(), notGrown);
    assert.equal(b.asked.length, 2);
  });

  test('a claim that could not be told is told at the next try', async () => {
    const b = bench();
    b.server.conflicts = 1;
    await assert.rejects(b.inUse(), { message: 'patchPVCStatus failed to patch PVC "data": conflict' });
    assert.equal(b.asked.length, 0, 'it begins once the claim says so');
    assert.equal(await b.inUse(), 2 * GIB);
    assert.deepEqual(b.server.told, ['NodeResizeInProgress', '2Gi']);
    const old = bench({});
    old.server.conflicts = 1;
    await assert.rejects(old.inUse(), {
      message:
        'mountVolume.NodeExpandVolume update PVC status failed : patchPVCStatus failed to patch PVC "data": conflict',
    });
    assert.equal(await old.inUse(), 2 * GIB);
    assert.deepEqual(old.server.told, ['2Gi']);
  });
});
