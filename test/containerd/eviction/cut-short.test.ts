import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ContainerState } from '../../../cri/generated/runtime/v1/api.ts';
import type { PodStatus } from '../../../machines/protocol/api-types.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { RUNS } from '../agent/support/test-pod.ts';
import { evictingNode } from './support/evicting-node.ts';
import type { EvictingNode } from './support/evicting-node.ts';
import { smallDisk } from './support/small-disk.ts';
import type { SmallDisk } from './support/small-disk.ts';

/** How long the one who goes takes for it, s: time enough to die in. */
const ENDING_S = 8;
const DATA = { volumes: [{ name: 'data', emptyDir: {} }], terminationGracePeriodSeconds: 60 };
/** Of the disk, how much of it must stay free, and what the one who goes takes, MiB. */
const [DISK, KEPT, TAKEN] = [1200, 500, 800];

/** Uses the disk up, and its time to end; says how often it began and was told to end. */
const FILLS = [
  `echo began; trap "echo told; sleep ${ENDING_S}; exit 1" TERM`,
  `dd if=/dev/zero of=/data/file bs=1048576 count=${TAKEN} 2>/dev/null`,
  'while :; do sleep 0.2; done',
].join('; ');

describe('an eviction that is cut short', { concurrency: false }, () => {
  let runtimes = 0;
  let disk: SmallDisk;
  const place = evictingNode(
    async () => {
      disk = await smallDisk({ mebibytes: DISK, inodes: 40_000 });
      return {
        containerd: { parent: disk.path, onRestart: () => runtimes++ },
        config: {
          ...{ volumeStatsAggPeriod: '1s', evictionMaxPodGracePeriod: 60, evictionPressureTransitionPeriod: '1s' },
          evictionHard: { 'nodefs.available': '20Mi' },
          ...{
            evictionSoft: { 'nodefs.available': `${KEPT}Mi` },
            evictionSoftGracePeriod: { 'nodefs.available': '1s' },
          },
        },
      };
    },
    () => disk.remove(),
  );

  /** Has a pod evicted, does something as soon as it was told to end, and waits until it has. */
  async function evictedThough(name: string, happens: (node: EvictingNode) => Promise<void>): Promise<void> {
    const node = place();
    const neighbour = `beside-${name}`;
    node.put(neighbour, RUNS);
    const before = await node.running(neighbour);
    await node.measured(neighbour);
    node.put(name, FILLS, { spec: DATA });
    const log = (): Promise<string[]> => node.node.log(name, 'c').catch(() => []);
    await waitFor(`${name} to be told to end`, async () => ((await log()).includes('told') ? true : undefined));
    await happens(node);
    const status = await node.evicted(name);
    isEviction(status);
    // A call that died with the runtime is made again: it is told twice then.
    assert.deepEqual([...new Set(await log())], ['began', 'told']);
    assert.equal((await log()).filter((line) => line === 'began').length, 1, 'it begins no more');
    assert.deepEqual(await node.running(neighbour), before, 'who only stands by goes on');
    await node.remove(name);
    await node.condition('DiskPressure', 'False');
    assert.deepEqual(await node.running(neighbour), before, 'nor does it go later');
    await node.remove(neighbour);
  }

  it('by the death of the agent: the next one goes on, and tells why', () =>
    evictedThough('cut-by-death', async ({ node }) => {
      await node.agent.kill();
      await node.startAgent();
    }));

  it('by the death of the agent, which comes back when the pod has ended', () =>
    evictedThough('cut-for-long', async ({ node }) => {
      await node.agent.kill();
      await waitFor('the container to end', async () => {
        const own = await node.containerd.cri.containers();
        return own.some(({ metadata, state }) => metadata?.name === 'c' && state !== ContainerState.CONTAINER_RUNNING)
          ? true
          : undefined;
      });
      await node.startAgent();
    }));

  it('by the death of the runtime: it is taken up when there is one again', () =>
    evictedThough('cut-by-runtime', async ({ node }) => {
      const before = runtimes;
      process.kill(node.containerd.containerd.pid, 'SIGKILL');
      await waitFor('containerd to serve again', () => (runtimes > before ? true : undefined));
    }));
});

function isEviction({ message, conditions, containerStatuses }: PodStatus): void {
  assert.match(
    message ?? '',
    /^The node was low on resource: ephemeral-storage\. Threshold quantity: 500Mi, available: /,
  );
  const disruption = conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.deepEqual([disruption?.status, disruption?.reason], ['True', 'TerminationByKubelet']);
  const [container] = containerStatuses ?? [];
  assert.equal(container?.state?.terminated?.exitCode, 1, JSON.stringify(container));
  assert.equal(container?.restartCount, 0);
}
