import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readCpuCheckpoint } from '../../../machines/resource-managers/cpu/cpu-checkpoint.ts';
import { cpuSetText } from '../../../machines/resource-managers/cpu/cpu-set.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { TestNode } from '../agent/support/test-node.ts';
import { isReady } from '../agent/support/seen.ts';
import { podOf, shell } from '../agent/support/test-pod.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';

/** Tells again and again on which CPUs it may run. */
const TELLS = 'while :; do grep Cpus_allowed_list /proc/self/status; sleep 0.2; done';
const CPUS = availableParallelism();
const ALL = cpuSetText(Array.from({ length: CPUS }, (_, cpu) => cpu));
/** What a second pod cannot have: all but the reserved one. */
const REST = CPUS - 1;

function guaranteed(name: string, cpus: number): object {
  const list = { cpu: String(cpus), memory: '32Mi' };
  return podOf(name, [shell('c', TELLS, { resources: { requests: list, limits: list } })]);
}

describe('CPUs of their own, on real containers', { skip: CPUS < 2 && 'the machine has one CPU' }, () => {
  let clean: MachineState;
  let node: TestNode;

  before(async () => {
    clean = await machineState();
    node = await TestNode.make({ config: { cpuManagerPolicy: 'static', reservedSystemCPUs: '0' } });
    await node.startAgent();
  });
  after(async () => {
    await node.stop();
    await assertNothingLeft(clean);
  });

  /** Waits until the container says that it runs on these CPUs. */
  const runsOn = (pod: string, cpus: string) =>
    waitFor(
      `${pod} to run on ${cpus}`,
      async () => {
        const last = (await node.log(pod, 'c').catch(() => [])).at(-1);
        return last === `Cpus_allowed_list:\t${cpus}` ? true : undefined;
      },
      async () => `${String((await node.log(pod, 'c').catch(() => [])).at(-1))} ${await node.agent.tail()}`,
    );
  const checkpoint = async () =>
    readCpuCheckpoint(await readFile(join(node.rootDir, 'cpu_manager_state'), 'utf8'), 'static');
  const alone = cpuSetText(Array.from({ length: REST }, (_, cpu) => cpu + 1));

  it('a Guaranteed pod has its CPUs alone, others share the rest', async () => {
    await node.write('shared.json', podOf('shared', [shell('c', TELLS)]));
    await node.waitPod('shared', 'ready', isReady);
    await runsOn('shared', ALL);
    await node.write('alone.json', guaranteed('alone', REST));
    await node.waitPod('alone', 'ready', isReady);
    await runsOn('alone', alone);
    await runsOn('shared', '0');
    assert.equal((await checkpoint()).shared, '0');
  });

  it('a pod for which none are left is refused in the words of kubelet', async () => {
    await node.write('late.json', guaranteed('late', 1));
    const pod: Pod = await node.waitPod('late', 'refused', ({ status }) => status?.phase === 'Failed');
    const why = 'not enough cpus available to satisfy request: requested=1, available=0';
    assert.equal(pod.status?.reason, 'UnexpectedAdmissionError');
    assert.equal(pod.status?.message, `Pod was rejected: Allocate failed due to ${why}, which is unexpected`);
    await node.remove('late.json');
    await node.waitGone('late');
  });

  it('an agent that comes after knows who has which, and gives nothing twice', async () => {
    await node.agent.kill();
    await node.startAgent();
    await node.waitPod('alone', 'ready', isReady);
    await runsOn('alone', alone);
    await runsOn('shared', '0');
    await node.write('late.json', guaranteed('late', 1));
    await node.waitPod('late', 'refused', ({ status }) => status?.reason === 'UnexpectedAdmissionError');
  });

  it('what a pod had goes back to all when it has ended', async () => {
    await node.remove('late.json');
    await node.remove('alone.json');
    await node.waitGone('alone');
    await runsOn('shared', ALL);
    const { shared, pods } = await checkpoint();
    assert.deepEqual({ shared, pods }, { shared: ALL, pods: {} });
  });
});
