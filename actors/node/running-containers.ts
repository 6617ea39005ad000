import { setTimeout as wait } from 'node:timers/promises';
import type { CriClient } from '../../cri/client/cri-client.ts';
import { observePod } from '../runtime/pleg/observe-pod.ts';
import type { ListedPod } from '../runtime/pleg/observe-pod.ts';

/** Pause between two tries, ms, and how many there are: a pod is kept waiting for a minute by what its runtime does not say. */
const AGAIN_MS = 1_000;
const TRIES = 60;

/** What is known of the runtime. */
export interface SeenRuntime {
  cri: CriClient;
  now: () => number;
  /** What the runtime's last list told; null before the first. */
  listed: () => ReadonlyMap<string, ListedPod> | null;
}

/**
 * Names of the pod's containers that run. A runtime that is away is waited for: an agent that starts beside one that is still coming up would
 * else take all containers for dead, and reject their pods (kubernetes#118559). After a minute none is known to run, as for kubelet: the pod is
 * asked about as if it began, and keeps what it has if its plugins are there.
 */
export async function runningContainers({ cri, now, listed }: SeenRuntime, uid: string): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    const all = listed();
    const pod = all?.get(uid);
    if (all !== null && pod === undefined) return [];
    const seen = pod === undefined ? null : await observePod(cri, pod, now()).catch(() => null);
    if (seen !== null) return seen.containers.filter(({ state }) => state === 'running').map(({ name }) => name);
    if (tries >= TRIES) return [];
    await wait(AGAIN_MS, undefined, { ref: false });
  }
}
