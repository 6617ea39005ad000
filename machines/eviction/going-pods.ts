import type { EvictionContext, Victim } from './eviction-context.ts';

/** So often the end of a pod is waited for. Whoever has not gone then holds up no other eviction. */
const MOST_WAITS = 2;

/**
 * Pods that were evicted, and had not gone when the wait for them was over: they are not evicted again. Kubelet tells of another
 * eviction each time, and as long as such a pod comes first in the order it ends no other, however long it takes.
 */
export function withLeft(context: EvictionContext, left: readonly Victim[]): EvictionContext {
  if (context.settings.evictsOnce !== true) return context;
  const waits = left.map(({ uid }): [string, number] => [uid, (context.going?.[uid] ?? 0) + 1]);
  return { ...context, going: { ...context.going, ...Object.fromEntries(waits) } };
}

/** Was it evicted already? */
export function isGoing({ going }: EvictionContext, uid: string): boolean {
  return (going?.[uid] ?? 0) > 0;
}

/** Was its end waited for as often as it is worth? */
export function isGivenUp({ going }: EvictionContext, uid: string): boolean {
  return (going?.[uid] ?? 0) >= MOST_WAITS;
}

/** Without those that have gone. */
export function withoutGone(context: EvictionContext, isGone: (uid: string) => boolean): EvictionContext {
  if (context.going === undefined) return context;
  return { ...context, going: Object.fromEntries(Object.entries(context.going).filter(([uid]) => !isGone(uid))) };
}
