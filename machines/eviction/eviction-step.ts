import type { Decision } from '../machine-step/act.ts';
import { awaitEnd, overdue, waited } from './await-end.ts';
import type { Candidate } from './candidates.ts';
import { withClock } from './clock-step.ts';
import { withContainerFs } from './container-fs-thresholds.ts';
import { roundWaits } from './eviction-context.ts';
import type { EvictionContext, EvictionMessage, EvictionOrder, EvictionStateName, Round } from './eviction-context.ts';
import { log, watching } from './eviction-draft.ts';
import type { Draft } from './eviction-draft.ts';
import { evictionWords } from './eviction-words.ts';
import { isGivenUp, isGoing, withoutGone } from './going-pods.ts';
import type { Offender } from './local-storage.ts';
import { takeLook } from './look.ts';
import { thresholdsMet } from './observations.ts';
import type { Observations } from './observations.ts';
import { ranked } from './ranking.ts';
import { reclaimPlan } from './reclaim-plan.ts';
import { isMemory, resourceOf } from './signals.ts';
import { sounded } from './soundings.ts';
import { isHard } from './thresholds.ts';
import type { Threshold } from './thresholds.ts';

/** Grace period of pods that must go at once, s. */
const AT_ONCE_SECONDS = 1;

/** One message: what is known after it, the state that follows, and what the host is to do. */
export function decideEviction(
  before: EvictionContext,
  message: EvictionMessage,
): Decision<EvictionContext, EvictionOrder> {
  const draft: Draft = { at: message.at, context: before, orders: [] };
  const to = take(draft, message);
  const from = before.focus;
  if (draft.context.conditions.join() !== before.conditions.join()) draft.orders.unshift({ type: 'status.post' });
  return {
    patch: { ...draft.context, focus: to },
    effects: draft.orders,
    ...(from !== to && { move: { from, to } }),
  };
}

/** Takes the message in; returns the next state. A message that the state has no use for changes nothing. */
function take(draft: Draft, message: EvictionMessage): EvictionStateName {
  const { context } = draft;
  const { focus } = context;
  switch (message.type) {
    case 'eviction.start':
      draft.context = { ...context, settings: message.settings, thresholds: message.settings.thresholds };
      return focus;
    case 'eviction.clock':
      draft.context = withClock(context, message.byMs);
      return focus;
    case 'eviction.disks': {
      if (focus !== 'starting') return focus;
      const disks = { imageFs: message.imageFs, splitFs: message.splitFs };
      draft.context = { ...context, disks, thresholds: withContainerFs(context.settings.thresholds, disks) };
      return watching(draft);
    }
    case 'eviction.sounded':
      draft.context = { ...context, soundings: sounded(context.soundings, message, message.pods) };
      return focus;
    case 'eviction.looked':
      draft.context = { ...context, soundings: sounded(context.soundings, message, null) };
      if (roundWaits(context)) return lookedMeanwhile(draft, message.seen);
      return focus.startsWith('watching.') ? looked(draft, message.seen, message.offenders) : focus;
    case 'eviction.reclaimed':
      return focus === 'reclaiming' ? reclaimed(draft, message.seen, message.failures) : focus;
    case 'eviction.measured':
      return focus === 'measuring' ? measured(draft, message.candidates) : focus;
    case 'eviction.killed':
      return waited(draft, (victim) => (victim.uid === message.uid ? { ...victim, killed: true } : victim));
    case 'eviction.cleaned':
      draft.context = withoutGone(context, (uid) => uid === message.uid);
      return waited(draft, (victim) => (victim.uid === message.uid ? null : victim));
    case 'timer':
      return overdue(draft);
  }
}

function looked(draft: Draft, seen: Observations, offenders: readonly Offender[]): EvictionStateName {
  const { patch, act } = takeLook(draft.context, seen, draft.at);
  draft.context = { ...draft.context, ...patch };
  // Whoever breaks a limit of its own goes first; then it is seen what is still short.
  const staying = offenders.filter(({ uid }) => !isGoing(draft.context, uid));
  if (staying.length > 0) return evictOffenders(draft, staying);
  return beginRound(draft, seen, act);
}

/**
 * A round waits, and the node was looked at: what the node tells is of now. Memory that runs short meanwhile begins a round of its own at once,
 * and a round is over when nothing is short any more. Kubelet looks at nothing before its round is over. What was asked for goes on, and is no
 * longer waited for.
 */
function lookedMeanwhile(draft: Draft, seen: Observations): EvictionStateName {
  const { focus, round, seen: before, thresholds } = draft.context;
  const { patch, act } = takeLook(draft.context, seen, draft.at);
  draft.context = { ...draft.context, ...patch };
  if (round === null || thresholdsMet(thresholds, seen, true).length === 0) return relieved(draft);
  const [first] = act;
  if (first !== undefined && isMemory(first.signal) && !isMemory(round.threshold.signal))
    return beginRound(draft, seen, act);
  // What the round has to say is of the look that it began with.
  draft.context = { ...draft.context, seen: before };
  return focus;
}

/** Nothing is short any more, and no pod had to go for it. */
function relieved(draft: Draft): EvictionStateName {
  const { round } = draft.context;
  const text = 'Eviction manager: able to reduce resource pressure without evicting pods.';
  if (round !== null) log(draft, text, { resourceName: round.resource });
  return watching(draft);
}

/** The round for the first of the thresholds to act on. */
function beginRound(draft: Draft, seen: Observations, act: Threshold[]): EvictionStateName {
  const [threshold] = act;
  const observed = threshold && seen[threshold.signal];
  const { disks } = draft.context;
  if (threshold === undefined || observed === undefined || disks === null) return watching(draft);
  const resource = resourceOf(threshold.signal);
  const plan = reclaimPlan(threshold.signal, disks);
  const round: Round = { at: draft.at, threshold, resource, observed, thresholds: act, reclaim: null, ranking: [] };
  draft.context = { ...draft.context, round };
  log(draft, 'Eviction manager: attempting to reclaim', { resourceName: resource });
  const message = `Attempting to reclaim ${resource}`;
  draft.orders.push({ type: 'node.event', reason: 'EvictionThresholdMet', message });
  if (plan.length === 0) return measure(draft, threshold, resource);
  draft.orders.push({ type: 'node.reclaim', what: plan });
  draft.context = { ...draft.context, round: { ...round, reclaim: { tried: plan, failures: [], after: null } } };
  return 'reclaiming';
}

function reclaimed(draft: Draft, seen: Observations | null, failures: string[]): EvictionStateName {
  const { round, thresholds } = draft.context;
  if (round === null) return watching(draft);
  const { threshold, resource } = round;
  const after = seen?.[threshold.signal] ?? null;
  const tried = round.reclaim?.tried ?? [];
  draft.context = { ...draft.context, round: { ...round, reclaim: { tried, failures, after } } };
  for (const err of failures) {
    const text = 'Eviction manager: unexpected error when attempting to reduce resource pressure';
    log(draft, text, { resourceName: resource, err });
  }
  if (seen !== null && thresholdsMet(thresholds, seen, true).length === 0) return relieved(draft);
  return measure(draft, threshold, resource);
}

function measure(draft: Draft, { signal }: Threshold, resource: string): EvictionStateName {
  log(draft, 'Eviction manager: must evict pod(s) to reclaim', { resourceName: resource });
  draft.orders.push({ type: 'pods.measure', signal });
  return 'measuring';
}

/** At most one pod goes at a time: then it is seen what that has brought. */
function measured(draft: Draft, candidates: readonly Candidate[] | null): EvictionStateName {
  const { round, settings, seen } = draft.context;
  if (round === null || candidates === null) return watching(draft);
  const { threshold, resource, thresholds } = round;
  const ranking = ranked(threshold.signal, candidates);
  draft.context = { ...draft.context, round: { ...round, ranking } };
  if (ranking.length === 0) {
    const text = 'Eviction manager: eviction thresholds have been met, but no pods are active to evict';
    log(draft, text, {});
    return watching(draft);
  }
  for (const each of thresholds) {
    const observedAt = seen[each.signal]?.at ?? 0;
    if (observedAt === 0) continue;
    draft.orders.push({ type: 'stats.age', signal: each.signal, seconds: (draft.at - observedAt) / 1000 });
  }
  draft.context = withoutGone(draft.context, (uid) => ranking.every((each) => each.uid !== uid));
  const victim = ranking.find(({ uid, critical }) => critical !== true && !isGivenUp(draft.context, uid));
  if (victim === undefined) {
    log(draft, 'Eviction manager: unable to evict any pods from the node', {});
    return watching(draft);
  }
  const { maxPodGraceSeconds } = settings;
  const { uid, namespace, name, graceSeconds: own = maxPodGraceSeconds } = victim;
  const graceSeconds = isHard(threshold) ? AT_ONCE_SECONDS : Math.min(maxPodGraceSeconds, own);
  const { signal } = threshold;
  if (isGoing(draft.context, uid)) {
    log(draft, 'Eviction manager: the pod to evict is ending already, waiting for it once more', {
      pod: `${namespace}/${name}`,
    });
  } else {
    const words = evictionWords(resource, victim, thresholds, seen);
    draft.orders.push({ type: 'pod.evict', uid, namespace, name, signal, ...words, graceSeconds, disrupts: true });
  }
  return awaitEnd(draft, [{ uid, namespace, name, signal, graceSeconds }]);
}

function evictOffenders(draft: Draft, offenders: readonly Offender[]): EvictionStateName {
  const graceSeconds = AT_ONCE_SECONDS;
  for (const { uid, namespace, name, limit, message } of offenders) {
    const words = { message, annotations: {} };
    draft.orders.push({
      ...{ type: 'pod.evict', uid, namespace, name, signal: limit, ...words },
      ...{ graceSeconds, disrupts: false },
    });
  }
  return awaitEnd(
    draft,
    offenders.map(({ uid, namespace, name, limit }) => ({ uid, namespace, name, signal: limit, graceSeconds })),
  );
}
