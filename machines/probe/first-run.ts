import { fnv32a } from '../values/hash.ts';
import type { Probe } from '../protocol/api-types.ts';

/**
 * When a probe of a container that was taken over runs first, ms since the epoch: somewhere within its period, so that those
 * of a whole node do not all run in the moment after a restart (kubelet's prober worker sleeps for a random share of it).
 * The share follows from `who`, which names pod and probe.
 */
export function firstRunAfterRestart(at: number, { periodSeconds = 10 }: Probe, who: string): number {
  const share = fnv32a(who) / 2 ** 32;
  return at + Math.floor(share * periodSeconds * 1000);
}
