/** A node changes hands while pods have CPUs, memory, devices and claims of their own: each agent goes on with what the other one gave away. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { PodResources } from '../../cri/generated/podresources/v1/api.ts';
import { readDeviceCheckpoint } from '../../machines/devices/device-checkpoint.ts';
import { listPodResources } from '../tools/pod-resources.ts';
import { lacksTool } from '../tools/reference-tool.ts';
import { waitFor } from '../tools/wait-for.ts';
import { ControlPlane } from './support/control-plane.ts';
import { DeviceBench, IMAGE, RESOURCE } from './support/device-bench.ts';
import type { AgentKind } from './support/node-config.ts';

const DRIVER = 'driver.example.com';
/** kubelet's own files, below the root directory. */
const FILES = [
  'device-plugins/kubelet_internal_checkpoint',
  'cpu_manager_state',
  'memory_manager_state',
  'dra_manager_state',
] as const;
/** All CPUs but the first may be given away. */
const CPUS = availableParallelism() - 1;
const skip = CPUS < 1 ? 'needs two CPUs' : await lacksTool('kubelet');

let plane: ControlPlane;
before(async () => {
  plane = await ControlPlane.start();
});
after(() => plane?.stop());

const config = {
  cpuManagerPolicy: 'static',
  reservedSystemCPUs: '0',
  memoryManagerPolicy: 'Static',
  // What nodeConfig's eviction threshold is.
  reservedMemory: [{ numaNode: 0, limits: { memory: '50Mi' } }],
};

/** Asks for all CPUs that there are, memory and a device. */
function greedy(): object {
  const amounts = { cpu: String(CPUS), memory: '64Mi', [RESOURCE]: '1' };
  const resources = { requests: amounts, limits: amounts };
  return { containers: [{ name: 'c', image: IMAGE, imagePullPolicy: 'IfNotPresent', resources }] };
}

/** Uses the claim. */
function claiming(): object {
  return {
    resourceClaims: [{ name: 'of', resourceClaimName: 'good' }],
    containers: [{ name: 'c', image: IMAGE, imagePullPolicy: 'IfNotPresent', resources: { claims: [{ name: 'of' }] } }],
  };
}

/** Who has what, as the agent's pod-resources API tells. */
async function told({ node }: DeviceBench): Promise<PodResources[]> {
  return (await listPodResources(node.node.agentRoot)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What stands in the checkpoints, whose checksums are right. */
async function files({ node }: DeviceBench): Promise<Record<string, unknown>> {
  const texts = FILES.map(async (name) => readFile(join(node.node.agentRoot, name), 'utf8'));
  const [devices = '', ...others] = await Promise.all(texts);
  const read = readDeviceCheckpoint(devices);
  // Of its devices kubelet writes the ids in the order of a map of Go's, another one each time, and the checksum is of that.
  const registered = Object.entries(read?.registered ?? {}).map(([name, ids]) => [name, [...ids].sort()]);
  return {
    [FILES[0]]: read && { ...read, registered },
    ...Object.fromEntries(others.map((text, i) => [FILES[i + 1], JSON.parse(text) as unknown])),
  };
}

/** The agent ends, and the other one takes the node over with its plugin and its driver. */
async function handOver(bench: DeviceBench, to: AgentKind): Promise<void> {
  const { node } = bench.node;
  const [devices, claims] = [bench.plugin.told.length, bench.driver.told.length];
  await node.agent.terminate();
  await node.startAgent(to);
  await waitFor(`plugin and driver to be registered with ${to}`, async () => {
    await node.agent.mustRun();
    return bench.plugin.told.length > devices && bench.driver.told.length > claims ? true : undefined;
  });
  await node.waitSchedulable();
}

for (const [from, to] of [
  ['kubelet', 'actorlet'],
  ['actorlet', 'kubelet'],
] as const)
  test(`CPUs, memory, devices and claims of running pods pass from ${from} to ${to}`, { skip }, async (t) => {
    const bench = await DeviceBench.start(t, plane, from, { config });
    await bench.claim('good', DRIVER);
    await bench.create('greedy', greedy());
    await bench.create('claiming', claiming());
    await Promise.all(['greedy', 'claiming'].map((name) => bench.ready(name)));
    const [before, list] = [await files(bench), await told(bench)];
    const first = list.find(({ name }) => name === 'greedy');
    assert.equal(first?.containers[0]?.cpuIds.length, CPUS);
    assert.equal(first.containers[0]?.memory.length, 1);
    assert.equal(first.containers[0]?.devices.length, 1);
    assert.ok(before[FILES[0]], 'its checksum is right');
    const { containers } = bench.node;
    assert.equal(containers.size, 2);

    await handOver(bench, to);
    await waitFor(
      `${to} to tell the same`,
      async () => {
        const now = await told(bench);
        return JSON.stringify(now) === JSON.stringify(list) ? true : undefined;
      },
      async () => `${JSON.stringify(await told(bench))} in place of ${JSON.stringify(list)}`,
    );
    assert.deepEqual(await files(bench), before);
    await bench.lives('greedy');
    assert.deepEqual(
      [bench.running('greedy'), bench.running('claiming'), containers.size],
      [1, 1, 2],
      'nothing was begun anew',
    );

    // What is given away is not there for others, and is when its pod has ended.
    await bench.create('late', greedy());
    assert.equal(await bench.failure('late'), 'UnexpectedAdmissionError');
    await bench.delete('late');
    await bench.delete('greedy');
    await bench.create('next', greedy());
    await bench.ready('next');
    await bench.delete('next');
    await bench.delete('claiming');
    await waitFor('the claim to be taken back', () => bench.driver.calls.includes('unprepare good') || undefined);
  });
