/**
 * What kubelet's users meet with devices and claims (kubernetes#138446, #125579, #140212, #140527): the reference, on the same control plane
 * and the same runtime, with the same plugin and driver, shows it; the agent does not.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { waitFor } from '../tools/wait-for.ts';
import { ControlPlane } from './support/control-plane.ts';
import { DeviceBench, IMAGE, QUIET_MS, RESOURCE } from './support/device-bench.ts';
import type { AgentKind } from './support/node-config.ts';

let plane: ControlPlane;
before(async () => {
  plane = await ControlPlane.start();
});
after(() => plane?.stop());

const device = { resources: { limits: { [RESOURCE]: '1' } } };
const main = { name: 'c', image: IMAGE, imagePullPolicy: 'IfNotPresent', ...device };

/** A pod with a device whose init container has ended; then the agent starts again before the plugin does. */
async function restartBeforePlugin(t: TestContext, agent: AgentKind): Promise<DeviceBench> {
  const bench = await DeviceBench.start(t, plane, agent);
  await bench.create('web', { initContainers: [{ ...main, name: 'init' }], containers: [main] });
  await bench.ready('web');
  bench.plugin.stop();
  await bench.node.node.restart();
  return bench;
}

/** A pod with a device; then the machine boots, and the agent starts before the plugin does. */
async function bootBeforePlugin(t: TestContext, agent: AgentKind): Promise<DeviceBench> {
  const bench = await DeviceBench.start(t, plane, agent);
  await bench.create('web', { containers: [main] });
  await bench.ready('web');
  bench.plugin.stop();
  await bench.node.node.kill9();
  await bench.node.runtime.restart({ downMs: 100, keepContainers: false });
  await bench.node.node.startAgent();
  return bench;
}

const { resources: _none, ...plain } = main;
/** A pod's spec that uses these claims. */
function uses(...claims: string[]): object {
  return {
    resourceClaims: claims.map((name) => ({ name: `of-${name}`, resourceClaimName: name })),
    containers: [{ ...plain, resources: { claims: claims.map((name) => ({ name: `of-${name}` })) } }],
  };
}

/** Two pods share a claim; one of them never gets ready, since the driver of its other claim is not there, and is deleted. */
async function otherSharerGoes(t: TestContext, agent: AgentKind): Promise<string[]> {
  const bench = await DeviceBench.start(t, plane, agent);
  await bench.claim('good', 'driver.example.com');
  await bench.claim('lost', 'absent.example.com');
  await bench.create('user', uses('good'));
  await bench.ready('user');
  await bench.create('hopeless', uses('lost', 'good'));
  const isTold = async () => (await bench.reasons('hopeless')).includes('FailedPrepareDynamicResources');
  await waitFor('the event of its claims', async () => ((await isTold()) ? true : undefined));
  await bench.delete('hopeless');
  await sleep(QUIET_MS);
  assert.equal(bench.running('user'), 1);
  return bench.driver.calls;
}

/** A pod comes while the driver still takes back what the one before it had. What the driver was asked for until the new one runs. */
async function comesWhileTakenBack(t: TestContext, agent: AgentKind): Promise<{ early: boolean; calls: string[] }> {
  const bench = await DeviceBench.start(t, plane, agent);
  await bench.claim('good', 'driver.example.com');
  await bench.create('first', uses('good'));
  await bench.ready('first');
  const taken = Promise.withResolvers<null>();
  bench.driver.behaviour.fault = { t: 'late', after: taken.promise };
  await plane.api.delete(bench.path('first'));
  await waitFor('the claim to be taken back', () => bench.driver.calls.includes('unprepare good') || undefined);
  await bench.create('second', uses('good'));
  // The reference starts it, and has all the time that a busy machine needs.
  if (agent === 'kubelet') await waitFor('the second to run', () => bench.running('second') > 0 || undefined);
  else await sleep(QUIET_MS);
  const early = bench.running('second') > 0;
  delete bench.driver.behaviour.fault;
  taken.resolve(null);
  await bench.gone('first');
  await bench.ready('second');
  return { early, calls: bench.driver.calls };
}

test('138446: a pod that runs is rejected when kubelet starts before its plugin, if an init container had a device', async (t) => {
  const [reference, own] = await both((agent) => restartBeforePlugin(t, agent));
  assert.equal(await reference.failure('web'), 'UnexpectedAdmissionError');
  await own.lives('web');
  await own.plugin.start(true);
  await own.ready('web');
  assert.equal(own.running('web'), 1);
});

test('125579: after a boot a pod fails for good when its plugin comes later; with --wait-for-plugins it waits for it, and runs', async (t) => {
  const [reference, own] = await both((agent) => bootBeforePlugin(t, agent));
  assert.equal(await reference.failure('web'), 'UnexpectedAdmissionError');
  await own.lives('web');
  assert.equal(own.running('web'), 0);
  await own.plugin.start(true);
  await waitFor('a new container', () => own.running('web') === 1 || undefined);
  await own.ready('web');
});

test('140212: a pod that never had the claim has it taken from the one that runs; here it stays with that', async (t) => {
  const [reference, own] = await both((agent) => otherSharerGoes(t, agent));
  assert.deepEqual([reference, own], [['prepare good', 'unprepare good'], ['prepare good']]);
});

test('140527: who comes while a claim is taken back runs with what nobody prepared; here it waits, and that is prepared anew', async (t) => {
  const [reference, own] = await both((agent) => comesWhileTakenBack(t, agent));
  assert.deepEqual(reference, { early: true, calls: ['prepare good', 'unprepare good'] });
  assert.deepEqual(own, { early: false, calls: ['prepare good', 'unprepare good', 'prepare good'] });
});

/** The same with the reference and with the agent, at the same time. */
function both<T>(play: (agent: AgentKind) => Promise<T>): Promise<[T, T]> {
  return Promise.all([play('kubelet'), play('actorlet')]);
}
