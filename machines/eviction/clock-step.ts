import type { EvictionContext } from './eviction-context.ts';

/**
 * The node's clock was set, by so many ms (negative: back): moments that are remembered are moved with it, so that what has lasted for a minute
 * has lasted for a minute, and a grace or transition period is neither over at once nor begins anew. Kubelet has this from Go's
 * monotonic clock. What was seen keeps the times that its source gave it, and the last round the time that people were told.
 */
export function withClock(context: EvictionContext, byMs: number): EvictionContext {
  const { metSince, observedAt, soundings, victims, deadline } = context;
  const moved = <T extends Record<string, number>>(times: T): T =>
    Object.fromEntries(Object.entries(times).map(([key, at]) => [key, at + byMs])) as T;
  return {
    ...context,
    metSince: moved(metSince),
    observedAt: moved(observedAt as Record<string, number>),
    soundings: {
      ...soundings,
      last: soundings.last.map((each) => ({ ...each, at: each.at + byMs })),
      podsAt: soundings.podsAt === null ? null : soundings.podsAt + byMs,
    },
    victims: victims.map((victim) => ({ ...victim, killBy: victim.killBy + byMs })),
    deadline: deadline === null ? null : deadline + byMs,
  };
}
