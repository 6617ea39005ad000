import type { PodSource } from '../protocol/messages.ts';
import type { PodMemory } from '../protocol/memory.ts';
import { endsWithNode } from '../status/shutdown-words.ts';

/**
 * What an earlier agent remembered of a pod, for the next one. A static pod that was ended or refused because its node shut down begins anew
 * (nobody else would bring a control plane back after a reboot, and kubelet remembers nothing); one of the API has failed for good.
 */
export function afterShutdown(memory: PodMemory | null, source: PodSource | 'orphan' | undefined): PodMemory | null {
  if (memory === null || !endsWithNode(memory.termination?.reason)) return memory;
  if (source === 'api' || source === 'orphan') return memory;
  const { termination: _over, startedAt: _before, ...rest } = memory;
  return rest;
}
