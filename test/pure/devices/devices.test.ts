import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptDevicesProblem } from '../../../machines/devices/choose-devices.ts';
import { deviceOptions } from '../../../machines/devices/container-options.ts';
import { deviceCapacity } from '../../../machines/devices/device-capacity.ts';
import { devicesStateName, devicesWhy, stepDevices } from '../../../machines/devices/device-machine.ts';
import type { DeviceMessage, DeviceOrder } from '../../../machines/devices/device-messages.ts';
import { pastNeed } from '../../../machines/devices/device-steps.ts';
import { inUse, NO_DEVICES } from '../../../machines/devices/device-state.ts';
import type { AllocateResponse, DeviceState, DeviceStep } from '../../../machines/devices/device-state.ts';

const GPU = 'example.com/gpu';
const response = (name: string): AllocateResponse => ({
  envs: { NAME: name },
  mounts: [],
  devices: [{ containerPath: '/dev/a', hostPath: `/dev/${name}`, permissions: 'rw' }],
  annotations: {},
  cdiDevices: [],
});
const healthy = (...ids: string[]) => Object.fromEntries(ids.map((id) => [id, { healthy: true, nodes: [] }]));
const step = (container: string, count = 1, kind: DeviceStep['kind'] = 'regular'): DeviceStep => ({
  ...{ container, kind, resource: GPU, count },
});

type Without<M> = M extends unknown ? Omit<M, 'at'> : never;

/** A manager whose plugin answers at once. */
class Bench {
  state: DeviceState = NO_DEVICES;
  readonly asked: DeviceOrder[] = [];
  preferred: string[] | null = null;
  failing = false;

  take(message: Without<DeviceMessage>): DeviceOrder[] {
    const { state, outputs } = stepDevices(this.state, { ...message, at: 0 });
    this.state = state;
    return outputs;
  }

  plugin(devices: Record<string, { healthy: boolean; nodes: number[] }>, prefers = false): void {
    this.take({ type: 'plugin.came', resource: GPU, options: { preStart: false, prefers } });
    this.take({ type: 'plugin.told', resource: GPU, devices });
  }

  /** `granted`, or why not. */
  ask(uid: string, steps: DeviceStep[], active: string[] | null = [uid], running: string[] = []): string {
    let orders = this.take({ type: 'pod.asks', uid, steps, active, running });
    for (let turns = 0; turns < 50; turns++) {
      this.asked.push(...orders);
      const last = orders.at(-1);
      if (last?.type === 'pod.granted') return 'granted';
      if (last?.type === 'pod.refused') return last.message;
      if (last?.type === 'plugin.prefer') orders = this.take({ type: 'plugin.prefers', ids: this.preferred ?? [] });
      else if (this.failing) orders = this.take({ type: 'plugin.failed', call: 'Allocate', message: 'no' });
      else orders = this.take({ type: 'plugin.gave', response: response(uid) });
    }
    return 'never';
  }

  of(uid: string, container: string): string[] {
    const pods = Object.assign({}, ...Object.values(this.state.grants)) as Record<string, never>;
    const grant = (pods as Record<string, Record<string, Record<string, { ids: Record<string, string[]> }>>>)[uid];
    return Object.values(grant?.[container]?.[GPU]?.ids ?? {}).flat();
  }
}

test('devices are given once, and are free when their pod is gone', () => {
  const b = new Bench();
  b.plugin(healthy('a', 'b', 'c'));
  assert.equal(b.ask('p1', [step('main', 2)]), 'granted');
  assert.deepEqual(b.of('p1', 'main'), ['a', 'b']);
  assert.equal(b.ask('p2', [step('main')], ['p1', 'p2']), 'granted');
  assert.deepEqual(b.of('p2', 'main'), ['c']);
  const lacking = 'requested number of devices unavailable for example.com/gpu. Requested: 1, Available: 0';
  assert.equal(b.ask('p3', [step('main')], ['p1', 'p2', 'p3']), lacking);
  b.take({ type: 'pod.gone', uid: 'p1' });
  assert.equal(b.ask('p3', [step('main')], null), 'granted');
  // What is held by pods that are no more active is free with the next ask.
  assert.equal(b.ask('p4', [step('main', 2)], ['p4']), 'granted');
  assert.deepEqual([...inUse(b.state, GPU)].sort(), ['a', 'b']);
});

test("an init container's devices are given again, a sidecar's are not", () => {
  const b = new Bench();
  b.plugin(healthy('a', 'b', 'c'));
  const steps = [step('first', 1, 'init'), step('side', 1, 'sidecar'), step('second', 1, 'init'), step('main', 2)];
  assert.equal(b.ask('p1', steps), 'granted');
  assert.deepEqual(b.of('p1', 'first'), ['a']);
  assert.deepEqual(b.of('p1', 'side'), ['a']);
  assert.deepEqual(b.of('p1', 'second'), ['b']);
  assert.deepEqual(b.of('p1', 'main'), ['b', 'c']);
});

test('the plugin chooses when it may, among what is free', () => {
  const b = new Bench();
  b.plugin(healthy('a', 'b', 'c', 'd'), true);
  b.preferred = ['d', 'x', 'b'];
  assert.equal(b.ask('p1', [step('main', 2)]), 'granted');
  assert.deepEqual(b.asked[0], {
    ...{ type: 'plugin.prefer', resource: GPU, available: ['a', 'b', 'c', 'd'], mustInclude: [], size: 2 },
  });
  assert.deepEqual(b.of('p1', 'main'), ['d', 'b']);
  b.preferred = ['d'];
  assert.equal(b.ask('p2', [step('main', 2)], ['p1', 'p2']), 'granted');
  assert.deepEqual(b.of('p2', 'main'), ['a', 'c']);
});

test('why a pod gets none, in words of kubelet', () => {
  const b = new Bench();
  b.take({ type: 'checkpoint.found', steady: 0, grants: {}, registered: [GPU] });
  const none = 'no healthy devices present; cannot allocate unhealthy devices example.com/gpu';
  assert.equal(b.ask('p1', [step('main')]), none);
  b.plugin({ a: { healthy: true, nodes: [] }, b: { healthy: false, nodes: [] } });
  b.failing = true;
  assert.equal(b.ask('p1', [step('main')]), 'no');
  assert.deepEqual([...inUse(b.state, GPU)], []);
  b.failing = false;
  assert.equal(b.ask('p1', [step('main')]), 'granted');
  assert.equal(b.ask('p1', [step('main')]), 'granted', 'what it has stays');
  assert.equal(
    b.ask('p1', [step('main', 2)]),
    'pod "p1" container "main" changed request for resource "example.com/gpu" from 1 to 2',
  );
  b.take({
    type: 'plugin.told',
    resource: GPU,
    devices: { a: { healthy: false, nodes: [] }, b: { healthy: true, nodes: [] } },
  });
  const sick = 'previously allocated devices are no longer healthy; cannot allocate unhealthy devices example.com/gpu';
  assert.equal(b.ask('p1', [step('main')]), sick);
  assert.equal(b.ask('p1', [step('main')], null, ['main']), 'granted', 'it runs already');
});

test('a pod that is resized is held back while the devices that it has are not healthy; one without devices is not', () => {
  const b = new Bench();
  const asks = (uid: string, steps = [step('main')]) => keptDevicesProblem(b.state, uid, steps);
  b.plugin(healthy('a', 'b'));
  assert.equal(b.ask('p1', [step('main')]), 'granted');
  assert.deepEqual([asks('p1'), asks('p2'), asks('p1', [])], [null, null, null]);
  const sick = { healthy: false, nodes: [] };
  b.take({ type: 'plugin.told', resource: GPU, devices: { a: sick, b: { healthy: true, nodes: [] } } });
  assert.equal(
    asks('p1'),
    'previously allocated devices are no longer healthy; cannot allocate unhealthy devices example.com/gpu',
  );
  assert.equal(asks('p2'), null);
  b.take({ type: 'plugin.went', resource: GPU, steady: 1 });
  assert.equal(asks('p1'), 'no healthy devices present; cannot allocate unhealthy devices example.com/gpu');
});

test('what the node has: all and healthy, nothing of a plugin that went, 0 for ever after five minutes', () => {
  const b = new Bench();
  assert.deepEqual(deviceCapacity(b.state), { capacity: {}, allocatable: {} });
  b.plugin({ a: { healthy: true, nodes: [] }, b: { healthy: false, nodes: [1] } });
  assert.deepEqual(deviceCapacity(b.state), { capacity: { [GPU]: '2' }, allocatable: { [GPU]: '1' } });
  b.take({ type: 'plugin.went', resource: GPU, steady: 1_000 });
  assert.deepEqual(deviceCapacity(b.state), { capacity: { [GPU]: '2' }, allocatable: { [GPU]: '0' } });
  b.take({ type: 'plugins.due', steady: 301_000 });
  assert.deepEqual(deviceCapacity(b.state).capacity, { [GPU]: '2' });
  b.take({ type: 'plugins.due', steady: 301_001 });
  assert.deepEqual(deviceCapacity(b.state), { capacity: { [GPU]: '0' }, allocatable: { [GPU]: '0' } });
  assert.equal(b.ask('p1', [step('main')]), 'granted', 'it is no device of a plugin any more: the scheduler counts it');
});

test('answers that nobody waits for change nothing; the state says what is waited for', () => {
  const b = new Bench();
  b.plugin(healthy('a', 'b'), true);
  const before = b.state;
  b.take({ type: 'plugin.gave', response: response('x') });
  b.take({ type: 'plugin.prefers', ids: ['a'] });
  b.take({ type: 'plugin.failed', call: 'Allocate', message: '' });
  assert.equal(b.state, before);
  assert.equal(devicesStateName(b.state), 'idle');
  b.take({ type: 'pod.asks', uid: 'p1', steps: [step('main')], active: [], running: [] });
  assert.equal(devicesStateName(b.state), 'preferring');
  b.take({ type: 'plugin.failed', call: 'Allocate', message: 'late' });
  b.take({ type: 'plugin.prefers', ids: ['b'] });
  assert.equal(devicesStateName(b.state), 'allocating');
  assert.match(devicesWhy(b.state), /container main of pod p1 waits for the plugin of example.com\/gpu: devices b/);
  const [order] = b.take({ type: 'plugin.failed', call: 'Allocate', message: 'broken' });
  assert.deepEqual(order, { type: 'pod.refused', uid: 'p1', message: 'broken' });
});

test('answers of several plugins become one; of two for the same the first counts', () => {
  const made = deviceOptions([
    { ...response('one'), cdiDevices: [{ name: 'v/c=1' }] },
    { ...response('two'), envs: { NAME: 'two', OTHER: 'x' }, cdiDevices: [{ name: 'v/c=1' }, { name: 'v/c=2' }] },
  ]);
  assert.deepEqual(made.envs, [
    { key: 'NAME', value: 'one' },
    { key: 'OTHER', value: 'x' },
  ]);
  assert.deepEqual(made.devices, [{ containerPath: '/dev/a', hostPath: '/dev/one', permissions: 'rw' }]);
  assert.deepEqual(made.cdiDevices, [{ name: 'v/c=1' }, { name: 'v/c=2' }]);
});

test('a pod waits for a plugin that was there before, and no longer than that', () => {
  const b = new Bench();
  b.take({ type: 'patience.set', steady: 1_000, ms: 60_000 });
  b.take({ type: 'checkpoint.found', steady: 1_000, grants: {}, registered: [GPU] });
  const asks = (steady: number, running: string[] = []) =>
    b.take({ type: 'pod.asks', uid: 'p', steps: [step('main')], active: ['p'], running, steady })[0];
  const waits = (until: number) => ({ type: 'pod.waits', uid: 'p', resource: GPU, until });
  assert.deepEqual(asks(60_999), waits(61_000));
  assert.equal(devicesStateName(b.state), 'idle', 'others are asked about meanwhile');
  // It runs: it needs nothing.
  assert.deepEqual(asks(2_000, ['main']), { type: 'pod.granted', uid: 'p' });
  assert.equal(asks(61_000)?.type, 'pod.refused');
  // One that comes and goes without a word gets no more time by that.
  b.take({ type: 'plugin.came', resource: GPU, options: { preStart: false, prefers: false } });
  b.take({ type: 'plugin.went', resource: GPU, steady: 30_000 });
  assert.deepEqual(asks(31_000), waits(61_000));
  b.plugin(healthy('a'));
  assert.equal(asks(32_000)?.type, 'plugin.allocate');
  b.take({ type: 'plugin.failed', call: 'Allocate', message: 'no' });
  b.take({ type: 'plugin.went', resource: GPU, steady: 100_000 });
  assert.deepEqual(asks(100_000), waits(160_000));
  // What has told that it has none is back.
  b.plugin({});
  assert.equal(asks(100_001)?.type, 'pod.refused');
});

test('a pod that has devices of a plugin that is not even known waits from the start of the agent on', () => {
  const b = new Bench();
  const grants = { p: { main: { [GPU]: { ids: { '-1': ['a'] }, response: response('p') } } } };
  const asks = (steady?: number) =>
    b.take({
      ...{ type: 'pod.asks', uid: 'p', steps: [step('main')], active: ['p'], running: [] },
      ...(steady !== undefined && { steady }),
    })[0];
  b.take({ type: 'checkpoint.found', steady: 5, grants, registered: [] });
  assert.equal(asks()?.type, 'pod.refused', 'kubelet: nobody waits');
  b.take({ type: 'patience.set', steady: 0, ms: 10 });
  assert.deepEqual(asks(9), { type: 'pod.waits', uid: 'p', resource: GPU, until: 10 });
  assert.equal(asks(10)?.type, 'pod.refused');
});

test('containers beside a regular one that runs need no devices any more; those of a pod that has not begun do', () => {
  const names = (list: string[], policy?: string) =>
    list.map((name) => ({ name, ...(policy !== undefined && { restartPolicy: policy }) }));
  const spec = {
    initContainers: [...names(['init']), ...names(['side'], 'Always')],
    containers: names(['main', 'other']),
  };
  assert.deepEqual(pastNeed({ spec }, ['side', 'main']), ['side', 'main', 'init', 'other']);
  assert.deepEqual(pastNeed({ spec }, ['main']), ['main', 'init', 'side', 'other'], 'a sidecar that crashed');
  assert.deepEqual(pastNeed({ spec }, ['side']), ['side']);
  assert.deepEqual(pastNeed({ spec }, []), []);
});
