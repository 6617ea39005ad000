import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { ProfileInput } from '../../../actors/node/fleet/profile/profile-schema.ts';
import { StandInApi } from '../../tools/stand-in-api.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { startedNode } from './support/started-node.ts';

const GPU = 'example.com/gpu';
const GROUP = { name: 'n', machine: { cpus: 8, memory: '16Gi' } };

type Devices = NonNullable<NonNullable<ProfileInput['groups']>[number]['devices']>;

/** A node with these devices, over a stand-in for the API server. */
async function nodeWith(
  t: TestContext,
  devices: Devices,
  more: ProfileInput = {},
  settings: Record<string, unknown> = {},
) {
  const api = new StandInApi();
  const { node } = await startedNode(t, {
    ...{ api, profile: { groups: [{ ...GROUP, devices }], ...more } },
    featureGates: { ResourceHealthStatus: true },
    settings,
  });
  const resources = () => {
    const { capacity, allocatable } = (api.get('nodes', 'n-0')?.status ?? {}) as Record<string, Record<string, string>>;
    return [capacity?.[GPU], allocatable?.[GPU]];
  };
  return {
    ...{ api, node, resources },
    create: (name: string, count: number) => void api.put('pods', podOf(name, count)),
    pod: (name: string) => api.get('pods', name, 'd') as Pod | undefined,
    /** Waits until the pod is in this phase. */
    phase: (name: string, phase: string) =>
      waitFor(`${name} to be ${phase}`, async () => {
        const pod = (await Promise.resolve(api.get('pods', name, 'd'))) as Pod | undefined;
        return pod?.status?.phase === phase ? pod : undefined;
      }),
    /** What a command in the pod's container says. */
    exec: async (name: string, ...cmd: string[]) => {
      const { client } = node.machine.runtime;
      const uid = String(api.get('pods', name, 'd')?.metadata['uid']);
      const { containers } = await client.runtime.listContainers({});
      const containerId =
        containers.find(({ labels, state }) => state === 1 && labels['io.kubernetes.pod.uid'] === uid)?.id ?? '';
      const { stdout } = await client.runtime.execSync({ containerId, cmd, timeout: '5' });
      return Buffer.from(stdout).toString().trim();
    },
  };
}

function podOf(name: string, count: number) {
  const resources = { limits: { [GPU]: String(count) }, requests: { [GPU]: String(count) } };
  return {
    metadata: { name, namespace: 'd' },
    spec: { nodeName: 'n-0', containers: [{ name: 'c', image: 'app:1', resources }] },
  };
}

test('a node has its devices, each pod finds others in its environment, and too many are refused as kubelet says it', async (t) => {
  const { create, phase, exec, resources, pod, api } = await nodeWith(t, [
    { resource: GPU, count: 4, unhealthy: 1, takes: '5ms' },
  ]);
  await waitFor('the node to tell of them', () => Promise.resolve(resources()[0] === undefined ? undefined : true));
  assert.deepEqual(resources(), ['4', '3']);
  create('a', 1);
  create('b', 2);
  await Promise.all([phase('a', 'Running'), phase('b', 'Running')]);
  const [a, b] = await Promise.all([
    exec('a', 'printenv', 'EXAMPLE_COM_GPU'),
    exec('b', 'printenv', 'EXAMPLE_COM_GPU'),
  ]);
  const all = [...a.split(','), ...b.split(',')];
  assert.equal(new Set(all).size, 3, `${a} and ${b}`);
  assert.ok(all.every((id) => /^gpu-[0-3]$/.test(id)));
  assert.match(await exec('a', 'env'), new RegExp(`^EXAMPLE_COM_GPU=${a}$`, 'm'));
  create('c', 1);
  const refused = await phase('c', 'Failed');
  assert.equal(refused.status?.reason, 'UnexpectedAdmissionError');
  assert.equal(
    refused.status.message,
    `Pod was rejected: Allocate failed due to requested number of devices unavailable for ${GPU}. Requested: 1, Available: 0, which is unexpected`,
  );
  // What a pod had is free when it has ended.
  api.end('a', 'd');
  await waitFor('it to be gone', () => Promise.resolve(pod('a') === undefined ? true : undefined));
  create('e', 1);
  await phase('e', 'Running');
  assert.equal(await exec('e', 'printenv', 'EXAMPLE_COM_GPU'), a);
});

test('devices fail by the schedule: fewer are allocatable, the pod is told, and they come back', async (t) => {
  const { create, phase, resources, pod } = await nodeWith(t, [{ resource: GPU, count: 2 }], {
    failures: [{ does: 'fail-devices', resource: 'example.com/*', at: '1500ms', for: '1500ms' }],
  });
  create('a', 2);
  await phase('a', 'Running');
  const health = () => pod('a')?.status?.containerStatuses?.[0]?.allocatedResourcesStatus;
  const as = (state: string) => [
    { name: GPU, resources: ['gpu-0', 'gpu-1'].map((resourceID) => ({ resourceID, health: state })) },
  ];
  const become = (state: string, free: string) =>
    waitFor(`devices to be ${state}`, () =>
      Promise.resolve(
        resources()[1] === free && JSON.stringify(health()) === JSON.stringify(as(state)) ? true : undefined,
      ),
    );
  await become('Unhealthy', '0');
  assert.equal(resources()[0], '2');
  await become('Healthy', '2');
  assert.equal(pod('a')?.status?.phase, 'Running');
});

test('a plugin that goes leaves its devices unhealthy, and a node that dies has the same ones for its pods again', async (t) => {
  const { api, create, phase, exec, resources, node } = await nodeWith(t, [{ resource: GPU, count: 8, env: 'GPUS' }]);
  create('a', 3);
  await phase('a', 'Running');
  const before = await exec('a', 'printenv', 'GPUS');
  node.machine.devices.leave(undefined);
  await waitFor('none to be allocatable', () => Promise.resolve(resources()[1] === '0' ? true : undefined));
  assert.equal(resources()[0], '8');
  node.machine.devices.comeBack(undefined);
  await waitFor('all to be', () => Promise.resolve(resources()[1] === '8' ? true : undefined));
  create('b', 5);
  await phase('b', 'Running');
  const others = await exec('b', 'printenv', 'GPUS');
  assert.equal(new Set([...before.split(','), ...others.split(',')]).size, 8);
  // Who comes first would have other devices now, did nobody know what it had.
  api.end('a', 'd');
  await waitFor('a to be gone', () => (api.get('pods', 'a', 'd') === undefined ? true : undefined));
  create('c', 2);
  await phase('c', 'Running');
  const later = await exec('c', 'printenv', 'GPUS');
  await node.die();
  await node.comeBack();
  for (const [name, its] of [
    ['b', others],
    ['c', later],
  ] as const)
    await waitFor(
      `${name} to run again with what it had`,
      async () => ((await exec(name, 'printenv', 'GPUS')) === its ? true : undefined),
      undefined,
      20_000,
    );
});

test('with NUMA nodes devices are given from one of them, or the pod is refused', async (t) => {
  const machine = { cpus: 8, memory: '16Gi', numa: 2 };
  const devices = [{ resource: GPU, count: 4, numa: [0, 1] }];
  const groups = [{ name: 'n', machine, devices }];
  const { create, phase, exec } = await nodeWith(t, [], { groups }, { topologyManagerPolicy: 'single-numa-node' });
  create('a', 3);
  assert.equal((await phase('a', 'Failed')).status?.reason, 'TopologyAffinityError');
  create('b', 2);
  await phase('b', 'Running');
  assert.match(await exec('b', 'printenv', 'EXAMPLE_COM_GPU'), /^(gpu-0,gpu-2|gpu-1,gpu-3)$/);
});
