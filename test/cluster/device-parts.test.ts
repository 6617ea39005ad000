import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DaemonProcess } from '../../bin/control-plane/daemon-process.ts';
import { waitFor } from '../tools/wait-for.ts';
import { ControlPlane } from './support/control-plane.ts';
import { isReadyPod } from './support/seen-pods.ts';
import { Space } from './support/space.ts';

/*
 * What simulated drivers publish beyond whole devices (alpha in 1.35): parts of cards, devices that several claims share, and taints. The
 * real scheduler and the real eviction controller say whether it is right.
 */

const RESOURCES = '/apis/resource.k8s.io';
const GATES = ['DRADeviceTaints', 'DRADeviceTaintRules', 'DRAPartitionableDevices', 'DRAConsumableCapacity'];
const FLAG = `--feature-gates=${GATES.map((gate) => `${gate}=true`).join()}`;
const RETIRED = { key: 'example.com/retired', effect: 'NoSchedule' };

const PROFILE = {
  groups: [
    {
      name: 'cards',
      drivers: [
        {
          driver: 'gpu.example.com',
          sharedCounters: [{ name: 'card', counters: { memory: '80Gi' } }],
          devices: [
            {
              ...{ name: 'whole', count: 1, attributes: { sort: 'whole' } },
              consumesCounters: [{ counterSet: 'card', counters: { memory: '80Gi' } }],
            },
            {
              ...{ name: 'half', count: 2, attributes: { sort: 'half' } },
              consumesCounters: [{ counterSet: 'card', counters: { memory: '40Gi' } }],
            },
          ],
        },
        {
          driver: 'nic.example.com',
          devices: [
            {
              ...{ name: 'nic', count: 1, allowMultipleAllocations: true },
              capacity: {
                bandwidth: {
                  value: '10Gi',
                  requestPolicy: { default: '1Gi', validRange: { min: '1Gi', step: '1Gi' } },
                },
              },
            },
          ],
        },
        { driver: 'old.example.com', devices: [{ name: 'old', count: 1, taints: [RETIRED] }] },
      ],
    },
  ],
};

/** A claim's allocation. */
interface Allocated {
  status?: {
    allocation?: {
      devices?: { results?: { device?: string; shareID?: string; consumedCapacity?: Record<string, string> }[] };
    };
  };
}

/** A ResourceSlice. */
interface Slice {
  spec: { driver: string; devices?: { taints?: object[] }[] };
}

let plane: ControlPlane;
let nodes: DaemonProcess;

before(async () => {
  plane = await ControlPlane.start({
    apiServerFlags: [FLAG, '--runtime-config=resource.k8s.io/v1alpha3=true'],
    controllerManagerFlags: [FLAG],
    schedulerFlags: [FLAG],
  });
  const profile = join(plane.dir, 'profile.json');
  await writeFile(profile, JSON.stringify(PROFILE));
  nodes = new DaemonProcess({
    name: 'actorlet nodes',
    program: fileURLToPath(new URL('../../bin/actorlet', import.meta.url)),
    args: [
      ...['nodes', '--kubeconfig', plane.adminKubeconfig, '--count', '1', '--port', '0', '--profile', profile],
      ...['--root-dir', join(plane.dir, 'nodes-root'), '--output', 'json', '--log-file', join(plane.dir, 'nodes.log')],
    ],
    logFile: join(plane.dir, 'nodes-out.log'),
  });
  for (const sort of ['gpu', 'nic', 'old']) {
    const selectors = [{ cel: { expression: `device.driver == "${sort}.example.com"` } }];
    await plane.api.post(`${RESOURCES}/v1/deviceclasses`, {
      ...{ apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', metadata: { name: sort }, spec: { selectors } },
    });
  }
  // A slice of devices for each driver, and one of counters.
  await waitFor(
    'the slices',
    async () => {
      await nodes.mustRun();
      return (await plane.api.list<Slice>(`${RESOURCES}/v1/resourceslices`)).length === 4 ? true : undefined;
    },
    () => nodes.tail(20),
  );
});

after(async () => {
  await nodes?.kill();
  await plane?.stop();
});

/** A namespace in which pods with one claim each are made; the claim is called as the pod. */
async function ground(name: string) {
  const space = await Space.make(plane, name, () => nodes.tail(20));
  return {
    space,
    create: async (pod: string, exactly: object) => {
      const devices = { requests: [{ name: 'one', exactly }] };
      await space.create({ kind: 'ResourceClaim', metadata: { name: pod }, spec: { devices } });
      await space.create({
        ...{ kind: 'Pod', metadata: { name: pod } },
        spec: {
          ...{ terminationGracePeriodSeconds: 1, resourceClaims: [{ name: 'one', resourceClaimName: pod }] },
          containers: [{ name: 'c', image: 'app:1', resources: { claims: [{ name: 'one' }] } }],
        },
      });
    },
    ready: (pod: string) => space.waitPod(pod, 'ready', isReadyPod),
    waits: (pod: string) => space.waitEvent(pod, 'FailedScheduling', /cannot allocate all claims/),
    allocated: async (pod: string) =>
      (await space.get<Allocated>('ResourceClaim', pod)).status?.allocation?.devices?.results?.[0],
  };
}

const ofSort = (sort: string) => ({
  ...{ deviceClassName: 'gpu' },
  selectors: [{ cel: { expression: `device.attributes["gpu.example.com"].sort == "${sort}"` } }],
});

test('a card is given away in parts or whole, and never both', async () => {
  const { space, create, ready, waits } = await ground('parts');
  for (const name of ['a', 'b']) await create(name, ofSort('half'));
  for (const name of ['a', 'b']) await ready(name);
  await create('all', ofSort('whole'));
  await waits('all');
  for (const name of ['a', 'b']) {
    await space.remove('Pod', name);
    await space.remove('ResourceClaim', name);
  }
  await ready('all');
});

test('claims share a device until its capacity is used up; who is tainted away loses it', async () => {
  const { space, create, ready, waits, allocated } = await ground('shares');
  const taking = (bandwidth: string) => ({ deviceClassName: 'nic', capacity: { requests: { bandwidth } } });
  await create('a', taking('6Gi'));
  await ready('a');
  await create('b', { deviceClassName: 'nic' });
  await ready('b');
  const [a, b] = [await allocated('a'), await allocated('b')];
  assert.deepEqual([a?.device, a?.consumedCapacity], ['nic-0', { bandwidth: '6Gi' }]);
  assert.deepEqual([b?.device, b?.consumedCapacity], ['nic-0', { bandwidth: '1Gi' }]);
  assert.ok(a?.shareID !== undefined && a.shareID !== b?.shareID);
  await create('c', taking('4Gi'));
  await waits('c');
  const before = await space.pod('a');
  assert.ok(before !== undefined);
  // An administrator's taint: to the node it is a pod that somebody deletes.
  await plane.api.post(`${RESOURCES}/v1alpha3/devicetaintrules`, {
    ...{ apiVersion: 'resource.k8s.io/v1alpha3', kind: 'DeviceTaintRule', metadata: { name: 'out' } },
    spec: {
      deviceSelector: { driver: 'nic.example.com', device: 'nic-0' },
      taint: { key: 'example.com/out', effect: 'NoExecute' },
    },
  });
  await space.waitGone(before);
});

test('a device that its driver has tainted is for those who tolerate that alone', async () => {
  const { create, ready, waits } = await ground('taints');
  // A slice that is published anew is not there for a moment.
  await waitFor('the taint of the driver', async () => {
    const slices = await plane.api.list<Slice>(`${RESOURCES}/v1/resourceslices`);
    const [taint] = slices.find(({ spec }) => spec.driver === 'old.example.com')?.spec.devices?.[0]?.taints ?? [];
    return taint !== undefined && 'timeAdded' in taint ? true : undefined;
  });
  await create('wary', { deviceClassName: 'old' });
  await waits('wary');
  await create('bold', { deviceClassName: 'old', tolerations: [{ ...RETIRED, operator: 'Exists' }] });
  await ready('bold');
});
