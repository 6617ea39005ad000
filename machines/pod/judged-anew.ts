import type { PodSource } from '../protocol/messages.ts';
import type { PodMemory } from '../protocol/memory.ts';

/**
 * What an earlier agent remembered of a pod, for the next one: not that it refused a static pod. Each agent judges those by itself, as
 * each kubelet does, which remembers nothing; one of the API has failed for good.
 */
export function judgedAnew(memory: PodMemory | null, source: PodSource | 'orphan' | undefined): PodMemory | null {
  if (memory?.termination?.rejected !== true || source === 'api' || source === 'orphan') return memory;
  const { termination: _refused, startedAt: _before, ...rest } = memory;
  return rest;
}
