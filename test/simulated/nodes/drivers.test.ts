import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { fleetClock } from '../../../actors/node/fleet/fleet-clock.ts';
import type { FleetClock } from '../../../actors/node/fleet/fleet-clock.ts';
import type { ProfileInput } from '../../../actors/node/fleet/profile/profile-schema.ts';
import { StandInApi } from '../../tools/stand-in-api.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { startedNode } from './support/started-node.ts';

const DRIVER = 'gpu.example.com';

/** Longer than a test takes. */
const ON_DEMAND = '1000h';

/** A clock with which what is to come so much later comes when the test says so, one after the other. */
function clockOnDemand(): { clock: FleetClock; next: () => void } {
  const clock = fleetClock();
  const later: (() => void)[] = [];
  const after: FleetClock['after'] = (ms, action) => {
    if (ms < 3_000_000_000) return clock.after(ms, action);
    later.push(action);
    return { cancel: () => undefined };
  };
  return { clock: { ...clock, after }, next: () => later.shift()?.() };
}

/** A node with two GPUs of a driver, over a stand-in for the API server; what a scheduler does, the test does. */
async function nodeWith(t: TestContext, more: ProfileInput = {}, clock = fleetClock()) {
  const api = new StandInApi();
  const drivers = [{ driver: DRIVER, devices: [{ name: 'gpu', count: 2 }], takes: '5ms' }];
  const { fleet, node } = await startedNode(t, {
    ...{ api, profile: { groups: [{ name: 'n', drivers }], ...more } },
    featureGates: { ResourceHealthStatus: true },
    clock,
  });
  const pod = (name: string) => api.get('pods', name, 'd') as Pod | undefined;
  const events: string[] = [];
  api.onChange = (resource, _name, object) => {
    if (resource === 'events') events.push(String((object as unknown as { message?: string })?.message));
  };
  return {
    ...{ api, fleet, node, pod, events },
    slices: () => api.all('resourceslices'),
    /** A pod with a claim to which these devices were allocated. */
    create: (name: string, ...devices: string[]) => {
      const uid = String(api.put('pods', podOf(name)).metadata['uid']);
      const results = devices.map((device) => ({ request: 'one/best', driver: DRIVER, pool: 'n-0', device }));
      const status = { reservedFor: [{ resource: 'pods', name, uid }], allocation: { devices: { results } } };
      api.put('resourceclaims', { metadata: { name: `of-${name}`, namespace: 'd' }, status });
    },
    phase: (name: string, phase: string) =>
      waitFor(`${name} to be ${phase}`, () => (pod(name)?.status?.phase === phase ? pod(name) : undefined)),
    /** What the runtime is to put into the pod's container. */
    cdi: (name: string) => node.parts?.claims?.cdiDevices(pod(name) ?? {}, 'c'),
  };
}

function podOf(name: string) {
  const resources = { claims: [{ name: 'gpu', request: 'one' }] };
  return {
    metadata: { name, namespace: 'd' },
    spec: {
      nodeName: 'n-0',
      resourceClaims: [{ name: 'gpu', resourceClaimName: `of-${name}` }],
      containers: [{ name: 'c', image: 'app:1', resources }],
    },
  };
}

const gone = (what: string, is: () => boolean) => waitFor(what, () => (is() ? true : undefined));

test('a pod has the devices of its claim until it ends; slices belong to the node and go with it', async (t) => {
  const { api, fleet, node, create, phase, cdi, slices } = await nodeWith(t);
  const slice = await waitFor('the slice', () => slices()[0]);
  assert.deepEqual(slice.spec, {
    ...{ driver: DRIVER, nodeName: 'n-0', pool: { name: 'n-0', generation: 1, resourceSliceCount: 1 } },
    devices: ['gpu-0', 'gpu-1'].map((name) => ({ name, attributes: {}, capacity: {} })),
  });
  const uid = api.get('nodes', 'n-0')?.metadata['uid'];
  assert.deepEqual(slice.metadata['ownerReferences'], [
    { apiVersion: 'v1', kind: 'Node', name: 'n-0', uid, controller: true },
  ]);
  create('a', 'gpu-1');
  await phase('a', 'Running');
  assert.deepEqual(cdi('a'), [`${DRIVER}/gpu=gpu-1`]);
  assert.equal(node.machine.drivers.prepared.size, 1);
  api.end('a', 'd');
  await gone('a to be gone', () => api.get('pods', 'a', 'd') === undefined);
  await gone('its claim to be given back', () => node.machine.drivers.prepared.size === 0);
  await fleet.stop(true);
  assert.deepEqual(slices(), []);
});

test('what somebody removes is published again; a driver that is away is not asked, and one that is back is', async (t) => {
  const { api, node, create, phase, slices, events } = await nodeWith(t, {}, fleetClock(20));
  const before = await waitFor('the slice', () => slices()[0]);
  api.remove('resourceslices', String(before.metadata['name']));
  await gone(
    'another slice',
    () => (slices()[0]?.metadata['uid'] ?? before.metadata['uid']) !== before.metadata['uid'],
  );
  node.machine.drivers.leave([DRIVER]);
  create('a', 'gpu-0');
  await gone('words of that', () => events.some((text) => text.includes(`DRA driver ${DRIVER} is not registered`)));
  // 30 s of the node's clock later the agent removes them, and nobody publishes them meanwhile.
  await gone('no slice to be left', () => slices().length === 0);
  node.machine.drivers.comeBack([DRIVER]);
  await phase('a', 'Running');
  await waitFor('the slice again', () => slices()[0]);
});

test('claims are refused by the schedule, and so are devices that are not there', async (t) => {
  const { clock, next } = clockOnDemand();
  const failures = [{ does: 'refuse-claims' as const, driver: 'gpu.*', at: ON_DEMAND, for: ON_DEMAND }];
  const { create, phase, events, pod } = await nodeWith(t, { failures }, clock);
  next();
  create('a', 'gpu-0');
  create('b', 'gpu-7');
  await gone('the refusal', () => events.some((text) => text.includes('the driver refuses claims')));
  next();
  await phase('a', 'Running');
  await gone('the other one', () => events.some((text) => text.includes('there is no device gpu-7 in the pool n-0')));
  assert.notEqual(pod('b')?.status?.phase, 'Running');
});

test('devices fail by the schedule, the pod is told, and after a death it has the same ones', async (t) => {
  const { clock, next } = clockOnDemand();
  const failures = [{ does: 'fail-driver-devices' as const, at: ON_DEMAND, for: ON_DEMAND }];
  const { create, phase, pod, cdi, node } = await nodeWith(t, { failures }, clock);
  create('a', 'gpu-0', 'gpu-1');
  await phase('a', 'Running');
  const become = (health: string) =>
    gone(`devices to be ${health}`, () => {
      const [row] = pod('a')?.status?.containerStatuses?.[0]?.allocatedResourcesStatus ?? [];
      return row?.resources?.length === 2 && row.resources.every((one) => one.health === health);
    });
  next();
  await become('Unhealthy');
  next();
  await become('Healthy');
  await node.die();
  assert.equal(node.machine.drivers.prepared.size, 1);
  await node.comeBack();
  await gone('it to run again', () => {
    const [status] = pod('a')?.status?.containerStatuses ?? [];
    return status?.state?.running !== undefined && (status.restartCount ?? 0) > 0;
  });
  assert.deepEqual(cdi('a'), [`${DRIVER}/gpu=gpu-0`, `${DRIVER}/gpu=gpu-1`]);
});

test('the driver tells the scheduler of devices that failed or are taken out, for as long as they are', async (t) => {
  const broken = { key: 'example.com/broken', effect: 'NoExecute' };
  const out = { key: 'example.com/out', value: 'yes', effect: 'NoSchedule' };
  const drivers = [{ driver: DRIVER, devices: [{ name: 'gpu', count: 2 }], taintsUnhealthy: broken }];
  const { slices, node } = await nodeWith(t, {
    groups: [{ name: 'n', drivers }],
    failures: [{ does: 'taint-driver-devices', driver: 'gpu.*', devices: 1, taint: out, at: '1s', for: '4s' }],
  } as ProfileInput);
  /** Waits until the devices' taints are these, and says the pool's generation then. */
  const tainted = (what: string, ...keys: string[]) =>
    waitFor(what, () => {
      const [slice] = slices();
      const { devices = [], pool } = (slice?.spec ?? {}) as {
        devices?: { taints?: { key: string; timeAdded?: string }[] }[];
        pool?: { generation: number };
      };
      const taints = devices.flatMap((device) => device.taints ?? []);
      assert.ok(taints.every(({ timeAdded }) => timeAdded !== undefined));
      return pool !== undefined && taints.map(({ key }) => key).join() === keys.join() ? pool.generation : undefined;
    });
  const generations = [await tainted('one to be out', out.key), await tainted('it to be back')];
  node.machine.drivers.fail([DRIVER], undefined);
  generations.push(await tainted('both to be ill', broken.key, broken.key));
  node.machine.drivers.heal([DRIVER], undefined);
  generations.push(await tainted('both to be well'));
  assert.deepEqual(generations, [2, 3, 4, 5]);
});
