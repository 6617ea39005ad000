/** Devices near to the CPUs of their container: hints (devicemanager's topology_hints.go), the topology manager's word, the choice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groundOf } from '../../../machines/admission/node-resources.ts';
import { deviceHints } from '../../../machines/devices/device-hints.ts';
import { devicesStateName, stepDevices } from '../../../machines/devices/device-machine.ts';
import type { DeviceMessage, DeviceOrder } from '../../../machines/devices/device-messages.ts';
import { NO_DEVICES } from '../../../machines/devices/device-state.ts';
import type { AllocateResponse, Alignment, DeviceState, DeviceStep } from '../../../machines/devices/device-state.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { admitResources, affinityWith } from '../../../machines/resource-managers/admit-resources.ts';
import type { Affinities } from '../../../machines/resource-managers/admit-resources.ts';
import { bornResources } from '../../../machines/resource-managers/resource-ground.ts';
import type { ResourceRules } from '../../../machines/resource-managers/resource-ground.ts';
import { Tally } from '../../../machines/resource-managers/tally.ts';
import { drawnMachine } from '../resource-managers/drawn-machine.ts';

const GPU = 'example.com/gpu';
const EMPTY: AllocateResponse = { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [] };

type Without<M> = M extends unknown ? Omit<M, 'at'> : never;

/** A manager whose plugin has devices at these NUMA nodes, by id. */
function manager(devices: Record<string, number[]>, prefers = false) {
  let state: DeviceState = NO_DEVICES;
  const take = (message: Without<DeviceMessage>): DeviceOrder[] => {
    const step = stepDevices(state, { ...message, at: 0 });
    ({ state } = step);
    return step.outputs;
  };
  take({ type: 'plugin.came', resource: GPU, options: { preStart: false, prefers } });
  const told = Object.entries(devices).map(([id, nodes]) => [id, { healthy: true, nodes }] as const);
  take({ type: 'plugin.told', resource: GPU, devices: Object.fromEntries(told) });
  const step = (container: string, count: number): DeviceStep => ({ container, kind: 'regular', resource: GPU, count });
  return {
    take,
    get state() {
      return state;
    },
    hints: (count: number, nodes = [0, 1], uid = 'p') =>
      deviceHints(state, nodes, { uid, container: 'c', resource: GPU, count, reusable: [] })?.map(
        ({ nodes: mask, preferred }) => `${(mask ?? 0).toString(2)}${preferred ? '!' : ''}`,
      ),
    asks: (uid: string, alignment: Alignment, ...counts: [string, number][]) =>
      take({
        ...{ type: 'pod.asks', uid, active: null, running: [], alignment },
        steps: counts.map(([container, count]) => step(container, count)),
      }),
  };
}

test('hints are the sets of nodes that have enough free devices; the smallest that could ever do are preferred', () => {
  assert.equal(manager({ a: [], b: [] }).hints(1), undefined, 'no preference');
  const m = manager({ a: [0], b: [1], c: [1] });
  assert.deepEqual(m.hints(1), ['1!', '10!', '11']);
  assert.deepEqual(m.hints(2), ['10!', '11']);
  assert.deepEqual(m.hints(3), ['11!']);
  assert.deepEqual(m.hints(4), []);
  assert.deepEqual(manager({ a: [0, 1], b: [2] }).hints(1, [0, 1, 2]), [
    '1!',
    '10!',
    '100!',
    '11',
    '101',
    '110',
    '111',
  ]);
});

test('devices in use and those that are ill are not to be had, but count for what could be', () => {
  const m = manager({ a: [0], b: [0], c: [1] });
  m.asks('q', { nodes: [0, 1], ofPod: null }, ['c', 1]);
  m.take({ type: 'affinity.told', nodes: 0b1 });
  m.take({ type: 'plugin.gave', response: EMPTY });
  assert.deepEqual(m.hints(2), ['11'], 'node 0 could have two, now it needs both nodes');
  assert.deepEqual(m.hints(1, [0, 1], 'q'), ['1!', '11'], 'who has one keeps it');
  assert.deepEqual(m.hints(2, [0, 1], 'q'), [], 'another number than it has');
});

test('the topology manager is asked before the plugin, once for each container, or once for the pod', () => {
  for (const ofPod of [null, { [GPU]: 2 }]) {
    const m = manager({ a: [0], b: [1], c: [1] });
    const asked = m.asks('p', { nodes: [0, 1], ofPod }, ['c', 1], ['d', 1])[0];
    assert.ok(asked?.type === 'affinity.ask');
    assert.equal(asked.container, ofPod === null ? 'c' : '');
    assert.equal(asked.hints?.[GPU]?.length, ofPod === null ? 3 : 2);
    assert.equal(devicesStateName(m.state), 'aligning');
    const [allocate] = m.take({ type: 'affinity.told', nodes: 0b10 });
    assert.deepEqual(allocate, { type: 'plugin.allocate', resource: GPU, ids: ['b'] });
    const next = m.take({ type: 'plugin.gave', response: EMPTY }).at(-1);
    assert.equal(next?.type, ofPod === null ? 'affinity.ask' : 'plugin.allocate');
    const end = m.take({ type: 'affinity.refused', message: 'nowhere' });
    assert.deepEqual(end, ofPod === null ? [{ type: 'pod.refused', uid: 'p', message: 'nowhere' }] : []);
  }
});

test('what is near is taken first; the plugin chooses among it when there is more, else among the rest', () => {
  const chosen = (count: number, nodes: number | null) => {
    const m = manager({ a: [0], b: [0], c: [1], d: [1], e: [] }, true);
    m.asks('p', { nodes: [0, 1], ofPod: null }, ['c', count]);
    return m.take({ type: 'affinity.told', nodes })[0];
  };
  const prefer = { type: 'plugin.prefer', resource: GPU } as const;
  assert.deepEqual(chosen(1, 0b10), { ...prefer, available: ['c', 'd'], mustInclude: [], size: 1 });
  assert.deepEqual(chosen(2, 0b10), { type: 'plugin.allocate', resource: GPU, ids: ['c', 'd'] });
  const rest = { ...prefer, available: ['a', 'b', 'c', 'd', 'e'], mustInclude: ['c', 'd'], size: 3 };
  assert.deepEqual(chosen(3, 0b10), rest);
  assert.deepEqual(chosen(1, null), { ...prefer, available: ['a', 'b', 'c', 'd', 'e'], mustInclude: [], size: 1 });
  const m = manager({ e: [], d: [1], c: [0] });
  m.asks('p', { nodes: [0, 1], ofPod: null }, ['c', 3]);
  const [all] = m.take({ type: 'affinity.told', nodes: 0b1 });
  assert.deepEqual(all, { type: 'plugin.allocate', resource: GPU, ids: ['c', 'd', 'e'] });
});

/** Two nodes of four cores, CPU 0 reserved. */
function rulesOf(policy: 'best-effort' | 'restricted' | 'single-numa-node', scope: 'container' | 'pod'): ResourceRules {
  return {
    machine: drawnMachine({ s: 2, n: 2, c: 4, t: 1, u: 1, m: 1024 }),
    cpu: { policy: 'static', options: {}, gates: { alpha: false, beta: true }, reservedMilli: 1000, reserved: '0' },
    memory: { policy: 'None', reservedMemory: [], whole: {} },
    topology: { policy, scope, options: {} },
    ...{ podLevelResources: true, resizes: { cpu: false, memory: false }, quotaOff: true, retryMs: 1000 },
  };
}

function pod(...cpus: string[]): Pod {
  const containers = cpus.map((cpu, at) => {
    const amounts = { cpu, memory: '1Mi', [GPU]: '1' };
    return { name: `c${at}`, resources: { requests: amounts, limits: amounts } };
  });
  return { metadata: { uid: 'p', name: 'p' }, spec: { containers } };
}

test('CPUs are given where the devices are, and a pod that can have both nowhere together is refused', () => {
  for (const scope of ['container', 'pod'] as const) {
    const rules = rulesOf('single-numa-node', scope);
    const [ground, wanted] = [groundOf(rules), pod('2')];
    const state = bornResources(rules, ground);
    const container = scope === 'pod' ? '' : 'c0';
    const align = (mask: number, of: Pod) =>
      affinityWith(ground, state, of, new Tally(), {
        ...{ container, fixed: {} },
        hints: { [GPU]: [{ nodes: mask, preferred: true }] },
      });
    // Without devices the CPUs would come from node 0.
    assert.match(JSON.stringify(admitResources(ground, state, wanted, new Tally()).cpu?.pods), /"cpus":"1-2"/);
    const hint = align(0b10, wanted);
    assert.deepEqual(hint, { nodes: 0b10, preferred: true });
    const given = admitResources(ground, state, wanted, new Tally(), { [container]: hint });
    assert.match(JSON.stringify(given.cpu?.pods), /"cpus":"4-5"/);
    // Node 0 has three CPUs to give.
    const refusal = {
      reason: 'TopologyAffinityError',
      message: 'Resources cannot be allocated with Topology locality',
    };
    assert.throws(() => align(0b1, pod('4')), refusal);
  }
});

test('a container is aligned with what those before it will have', () => {
  const rules = rulesOf('restricted', 'container');
  const ground = groundOf(rules);
  const state = bornResources(rules, ground);
  const wanted = pod('4', '3');
  const anywhere = {
    [GPU]: [
      { nodes: 0b1, preferred: true },
      { nodes: 0b10, preferred: true },
    ],
  };
  const fixed: Record<string, Affinities[string]> = {};
  for (const container of ['c0', 'c1'])
    fixed[container] = affinityWith(ground, state, wanted, new Tally(), { container, hints: anywhere, fixed });
  assert.deepEqual([fixed['c0']?.nodes, fixed['c1']?.nodes], [0b10, 0b1]);
  const cpus = JSON.stringify(admitResources(ground, state, wanted, new Tally(), fixed).cpu?.pods);
  assert.match(cpus, /"cpus":"4-7"/);
  assert.match(cpus, /"cpus":"1-3"/);
});
