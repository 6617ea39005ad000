import type { EvictionStateName, Victim } from './eviction-context.ts';
import { log, watching } from './eviction-draft.ts';
import type { Draft } from './eviction-draft.ts';
import { withLeft } from './going-pods.ts';

/** For so long the containers of a pod are waited for at least, ms (kubelet's killPodNow). */
const LEAST_KILL_MS = 10_000;
/** For so long what is left of an ended pod is waited for, ms (kubelet's podCleanupTimeout). */
const CLEAN_UP_MS = 30_000;

/** Waits for the end of pods that go now. */
export function awaitEnd(
  draft: Draft,
  pods: readonly (Omit<Victim, 'killBy' | 'killed'> & { graceSeconds: number })[],
): EvictionStateName {
  const victims = pods.map(({ graceSeconds, ...victim }): Victim => {
    const killBy = draft.at + Math.max(LEAST_KILL_MS, graceSeconds * 1500);
    return { ...victim, killBy, killed: false };
  });
  draft.context = { ...draft.context, victims, deadline: earliest(victims) };
  return 'ending.killing';
}

/** What became of the pods that are waited for; null: it is gone. */
export function waited(draft: Draft, look: (victim: Victim) => Victim | null): EvictionStateName {
  const { context, at } = draft;
  if (!context.focus.startsWith('ending.')) return context.focus;
  const victims = context.victims.flatMap((victim) => look(victim) ?? []);
  if (victims.length === 0) return waitIsOver(draft);
  if (context.focus === 'ending.cleaning') {
    draft.context = { ...context, victims };
    return context.focus;
  }
  const killing = victims.some(({ killed }) => !killed);
  draft.context = { ...context, victims, deadline: killing ? earliest(victims) : at + CLEAN_UP_MS };
  return killing ? 'ending.killing' : 'ending.cleaning';
}

/** The deadline has come. */
export function overdue(draft: Draft): EvictionStateName {
  const { context, at, orders } = draft;
  const { deadline, focus, victims } = context;
  if (deadline === null || at < deadline) return focus;
  if (focus === 'ending.cleaning') {
    const pods = victims.map(({ namespace, name }) => `${namespace}/${name}`).join();
    log(draft, 'Eviction manager: timed out waiting for pods to be cleaned up', { pods });
    draft.context = withLeft(context, victims);
    return waitIsOver(draft);
  }
  for (const { uid, namespace, name } of victims.filter(({ killed, killBy }) => !killed && killBy <= at)) {
    const message = 'Container runtime did not kill the pod within specified grace period.';
    orders.push({ type: 'pod.event', uid, namespace, name, reason: 'ExceededGracePeriod', message });
  }
  return waited(draft, (victim) => (victim.killBy <= at ? { ...victim, killed: true } : victim));
}

function waitIsOver(draft: Draft): EvictionStateName {
  draft.context = { ...draft.context, victims: [], deadline: null };
  return watching(draft);
}

function earliest(victims: readonly Victim[]): number {
  return Math.min(...victims.filter(({ killed }) => !killed).map(({ killBy }) => killBy));
}
