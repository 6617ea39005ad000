/** The device manager with plugins that are only functions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { DeviceManager } from '../../../actors/resources/devices/device-manager.ts';
import type { DevicePlugins, PluginHears } from '../../../actors/resources/devices/device-plugins.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { STOP_GRACE_MS } from '../../../machines/devices/device-state.ts';
import { devices } from '../../../actors/record/machines/devices.ts';
import { failOn } from '../faults/failing-machine.ts';

const GPU = 'example.com/gpu';
const POD: Pod = {
  metadata: { uid: 'u' },
  spec: { containers: [{ name: 'c', resources: { limits: { [GPU]: '1' } } }] },
};
const RESPONSE = { envs: { GPUS: 'a' }, mounts: [], devices: [], annotations: {}, cdiDevices: [] };

/** A manager and what its plugins are asked; `problem` is why none can register. */
async function managed(problem?: string) {
  const world = { steady: 1_000, there: true, asked: [] as string[], look: (): void => undefined };
  const heard: PluginHears[] = [];
  const plugins: DevicePlugins = {
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    ...(problem !== undefined && { problem: () => problem }),
    prefer: () => Promise.resolve([]),
    allocate: () => Promise.resolve(RESPONSE),
    async preStart(resource, ids) {
      if (!world.there) throw new Error(`endpoint ${resource} has been stopped`);
      world.asked.push(ids.join());
      return Promise.resolve();
    },
  };
  const manager = new DeviceManager({
    plugins: (hears) => (heard.push(hears), plugins),
    checkpoint: { read: () => Promise.resolve(null), write: () => Promise.resolve() },
    ...{ active: () => ['u'], listed: () => null, running: () => Promise.resolve([]) },
    ...{ alignment: () => null, affinity: () => ({ nodes: null, preferred: true }) },
    ...{ extended: false, changed: () => undefined, log: pino({ level: 'silent' }) },
    clock: {
      ...machineClock,
      steady: () => world.steady,
      lookAfter: (_ms, look) => ((world.look = look), { cancel: () => undefined }),
    },
    metrics: createMetrics({ processMetrics: false }),
  });
  await manager.start();
  const [hears] = heard;
  assert.ok(hears);
  const comes = (preStart: boolean): void => {
    world.there = true;
    hears.came(GPU, { preStart, prefers: false });
    hears.told(GPU, { a: { healthy: true, nodes: [] } });
  };
  const goes = (): void => {
    world.there = false;
    hears.went(GPU);
  };
  return { manager, world, comes, goes };
}

test('no container starts with devices that its plugin is to reset first while that is away', async (t) => {
  const { manager, world, comes, goes } = await managed();
  t.after(() => manager.stop());
  comes(true);
  assert.equal((await manager.grant(POD)).problem, null);
  assert.deepEqual(manager.given('u', 'c').envs, [{ key: 'GPUS', value: 'a' }]);
  assert.deepEqual(world.asked, [], 'for its variables alone no plugin is told');
  assert.deepEqual((await manager.optionsOf(POD, 'c'))?.envs, [{ key: 'GPUS', value: 'a' }]);
  assert.deepEqual(world.asked, ['a']);

  goes();
  const stopped = `device plugin PreStartContainer rpc failed with err: endpoint ${GPU} has been stopped`;
  await assert.rejects(manager.optionsOf(POD, 'c'), { message: stopped });
  world.steady += STOP_GRACE_MS + 1;
  world.look();
  const expired = `endpoint not found in cache for a registered resource: ${GPU}`;
  await assert.rejects(manager.optionsOf(POD, 'c'), { message: expired });

  comes(true);
  assert.notEqual(await manager.optionsOf(POD, 'c'), null);
  assert.deepEqual(world.asked, ['a', 'a']);
});

test('a plugin that is not asked before starts may be away for a while', async (t) => {
  const { manager, world, comes, goes } = await managed();
  t.after(() => manager.stop());
  comes(false);
  assert.equal((await manager.grant(POD)).problem, null);
  goes();
  assert.notEqual(await manager.optionsOf(POD, 'c'), null);
  world.steady += STOP_GRACE_MS + 1;
  world.look();
  await assert.rejects(manager.optionsOf(POD, 'c'), /^Error: endpoint not found in cache for a registered resource/);
});

test('a pod whose devices are away is not resized meanwhile, in the words in which kubelet would not admit it', async (t) => {
  const { manager, comes, goes } = await managed();
  t.after(() => manager.stop());
  comes(false);
  assert.equal((await manager.grant(POD)).problem, null);
  assert.equal(manager.refusesResize(POD), null);
  goes();
  const why = `no healthy devices present; cannot allocate unhealthy devices ${GPU}`;
  assert.deepEqual(manager.refusesResize(POD), {
    ...{ admit: false, reason: 'UnexpectedAdmissionError' },
    message: `Allocate failed due to ${why}, which is unexpected`,
  });
});

test('the node is healthy while plugins can register', async (t) => {
  const [well, broken] = [await managed(), await managed('listen EACCES')];
  t.after(() => Promise.all([well.manager.stop(), broken.manager.stop()]));
  assert.equal(well.manager.problem(), null);
  assert.equal(
    broken.manager.problem(),
    'device registration error: device plugin registration gRPC server failed and no device plugins can register: listen EACCES',
  );
});

test('what the machine fails at of a plugin ends nothing, and a pod that it fails at has no devices', async (t) => {
  const { manager, comes } = await managed();
  t.after(() => manager.stop());
  const { mend } = failOn(t, devices, ['plugin.told', 'pod.asks']);
  comes(false);
  await assert.rejects(manager.grant(POD), /NOD015: The machine devices failed on a message \(pod\.asks\)/);
  mend();
  comes(false);
  assert.equal((await manager.grant(POD)).problem, null);
});
