/** A machine of which a part is kept from pods: by processors, by amounts, and by class of pods. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { cgroupHierarchies, removeEmptyCgroups } from '../../../cri/private-containerd/container-remains.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { isReady } from './support/seen.ts';
import { podOf, runs } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';

const MI = 1024 * 1024;
const V1 = existsSync('/sys/fs/cgroup/memory');
/** A file of a cgroup, of either version. */
const valueOf = (cgroup: string, controller: string, v1: string, v2: string): string =>
  readFileSync(V1 ? join('/sys/fs/cgroup', controller, cgroup, v1) : join('/sys/fs/cgroup', cgroup, v2), 'utf8').trim();
const memoryOf = (cgroup: string) => Number(valueOf(cgroup, 'memory', 'memory.limit_in_bytes', 'memory.max'));

describe('a node of which a part is reserved', { skip: availableParallelism() < 2 }, () => {
  let clean: MachineState;
  let node: TestNode;
  before(async () => {
    clean = await machineState();
    node = await TestNode.make({
      config: {
        reservedSystemCPUs: '0',
        kubeReserved: { cpu: '1500m', memory: '32Mi' },
        systemReserved: { memory: '64Mi', pid: '1000' },
        featureGates: { QOSReserved: true },
        qosReserved: { memory: '50%' },
      },
    });
  });
  after(async () => {
    await node.stop();
    await assertNothingLeft(clean);
  });

  async function configure(more: Record<string, unknown>): Promise<void> {
    await writeFile(join(node.rootDir, 'config.json'), JSON.stringify({ ...node.config(), ...more }));
  }

  /** The agent's last words when it does not start. */
  async function refusal(more: Record<string, unknown>): Promise<string> {
    await configure(more);
    const agent = await node.startAgent({ wait: false });
    const { code } = await agent.ended;
    assert.equal(code, 1);
    return readFile(agent.logFile, 'utf8');
  }

  it('keeps processors, memory and process ids from all pods, and from each class what better ones ask for', async () => {
    await node.startAgent();
    const kubepods = join(node.cgroupRoot, 'kubepods');
    const total = Number(/MemTotal:\s+(\d+) kB/.exec(await readFile('/proc/meminfo', 'utf8'))?.[1]) * 1024;
    const tasks = Math.min(
      ...['pid_max', 'threads-max'].map((name) => Number(readFileSync(`/proc/sys/kernel/${name}`, 'utf8'))),
    );
    assert.equal(memoryOf(kubepods), total - 96 * MI);
    assert.equal(valueOf(kubepods, 'pids', 'pids.max', 'pids.max'), String(tasks - 1000));
    const online = readFileSync('/sys/devices/system/cpu/online', 'utf8').trim();
    if (V1 && online === '0-1') assert.equal(valueOf(kubepods, 'cpu', 'cpu.shares', ''), '1024');

    const asks = (memory: string, limits: object) => ({ resources: { requests: { cpu: '10m', memory }, ...limits } });
    const same = { limits: { cpu: '10m', memory: '40Mi' } };
    await node.write('sure.json', podOf('sure', [runs('a', asks('40Mi', same))]));
    await node.write('burst.json', podOf('burst', [runs('a', asks('20Mi', {}))]));
    for (const name of ['sure', 'burst']) await node.waitPod(name, 'ready', isReady);
    const burstable = total - 96 * MI - 20 * MI;
    await waitFor(
      'limits of the classes',
      () =>
        (memoryOf(join(kubepods, 'burstable')) === burstable &&
          memoryOf(join(kubepods, 'besteffort')) === burstable - 10 * MI) ||
        undefined,
      () => `${memoryOf(join(kubepods, 'burstable'))} ${memoryOf(join(kubepods, 'besteffort'))}, not ${burstable}`,
    );
    for (const name of ['sure', 'burst']) await node.remove(`${name}.json`);
    for (const name of ['sure', 'burst']) await node.waitGone(name);
    await waitFor('limits without pods', () => memoryOf(join(kubepods, 'besteffort')) === total - 96 * MI || undefined);
    await node.agent.terminate();
  });

  it('does not start where what it is to use is not there', async () => {
    assert.match(
      await refusal({ reservedSystemCPUs: '0,4095' }),
      /CFG040.*reserved-cpus: 0,4095 is not a subset of online-cpus: 0/,
    );
    assert.match(
      await refusal({ reservedSystemCPUs: '', systemReserved: { memory: '4Pi' } }),
      /CFG041.*invalid Node Allocatable configuration. Resource \\?"memory\\?" has a reservation of/,
    );
    assert.match(
      await refusal({ cgroupRoot: '/not-there-actorlet' }),
      /HOST033.*invalid configuration: .*cgroup \[\\?"not-there-actorlet\\?"\]/,
    );
    const system = {
      reservedSystemCPUs: '',
      enforceNodeAllocatable: ['pods', 'system-reserved'],
      systemReservedCgroup: `${node.cgroupRoot}-system`,
      systemReserved: { pid: '777', memory: '64Mi' },
    };
    assert.match(await refusal(system), /HOST032.*Failed to enforce System Reserved Cgroup Limits on/);
    const dirs = (await cgroupHierarchies()).map((dir) => join(dir, system.systemReservedCgroup));
    for (const dir of dirs) await mkdir(dir, { recursive: true });
    try {
      await configure(system);
      await node.startAgent();
      await waitFor('the limits', () => memoryOf(system.systemReservedCgroup) === 64 * MI || undefined);
      await waitFor(
        'the limit of process ids',
        () => valueOf(system.systemReservedCgroup, 'pids', 'pids.max', 'pids.max') === '777' || undefined,
      );
      await node.agent.terminate();
    } finally {
      await removeEmptyCgroups([system.systemReservedCgroup]);
    }
  });
});
