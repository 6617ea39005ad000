import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { ContainerGcManager } from '../../../actors/resources/container-gc/container-gc-manager.ts';
import type { ContainerGcOptions } from '../../../actors/resources/container-gc/container-gc-manager.ts';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { LABEL } from '../../../machines/protocol/runtime-labels.ts';

const EXITED = 2;

/** A runtime that holds one ended container of each pod, and says what it removes. */
function runtimeWith(uids: readonly string[], onRemoved: (id: string) => void) {
  const containers = uids.map((uid) => ({
    ...{ id: `c-${uid}`, podSandboxId: `s-${uid}`, metadata: { name: 'app', attempt: 0 }, state: EXITED },
    ...{ createdAt: '0', labels: { [LABEL.podUid]: uid } },
  }));
  const removed: string[] = [];
  const runtime = {
    listContainers: () => Promise.resolve({ containers }),
    listPodSandbox: () => Promise.resolve({ items: [] }),
    containerStatus: ({ containerId }: { containerId: string }) =>
      Promise.resolve({ status: containers.find(({ id }) => id === containerId) }),
    removeContainer: ({ containerId }: { containerId: string }) => {
      removed.push(containerId);
      onRemoved(containerId);
      return Promise.resolve({});
    },
  };
  return { removed, runtime: runtime as unknown as ContainerGcOptions['cri']['runtime'] };
}

// The simulation's seed 261125034: the list that the agent began with lagged, and the watch brought the pod while a pass went on.
test('a pod that comes while a pass removes what seemed to be of nobody keeps its containers', async () => {
  const known = new Set<string>();
  const { removed, runtime } = runtimeWith(['gone', 'late', 'never'], () => known.add('late'));
  const manager = new ContainerGcManager({
    ...{ policy: { minAgeMs: 0, maxPerContainer: 1, maxContainers: -1 }, settings: { nodeName: 'n' } },
    ...{ cri: { runtime }, clock: machineClock, log: pino({ level: 'silent' }), events: { record: () => undefined } },
    ...{ journal: null, pods: () => [], sourcesReady: () => true, heardOf: () => true },
    stateOf: (uid) => (known.has(uid) ? 'syncing.running' : null),
    podLogs: {
      folders: () => Promise.resolve([]),
      deadLinks: () => Promise.resolve([]),
    } as unknown as ContainerGcOptions['podLogs'],
  });
  await manager.reclaim.containers();
  manager.stop();
  assert.deepEqual(removed, ['c-gone', 'c-never']);
});
