import { allocationOf, withAllocation } from '../resize/allocation.ts';
import type { PodAllocation } from '../resize/allocation.ts';
import type { Pod } from '../protocol/api-types.ts';
import { inOrderOfTurn } from '../resize/pending-queue.ts';
import type { PodLevelResizes } from '../resize/pod-level.ts';
import { pendingNote, withPending } from '../resize/resize-conditions.ts';
import { decideResize } from '../resize/resize-decision.ts';
import type { ResizeDecision } from '../resize/resize-decision.ts';
import { resizeMessage } from '../resize/resize-events.ts';
import { atUid, withUid } from '../supervisor/uid-table.ts';
import type { AllocatedPod, RetryTrigger } from './admission-state.ts';
import type { Refusals } from './admission-messages.ts';
import type { AdmissionTurn } from './admission-turn.ts';
import { fits, given, recount } from './judge.ts';

/** First look at waiting resizes after the start, and while sources have not all spoken, ms. */
export const FIRST_RETRY_MS = 30_000;
/** Pause between such looks, ms. */
const RETRY_MS = 180_000;

/** A pod as it is to run. */
export function running(
  pod: Pod,
  { allocation, pending }: Pick<AllocatedPod, 'allocation' | 'pending'>,
  { podLevelResizes }: PodLevelResizes,
): Pod {
  return withPending(withAllocation(pod, allocation, podLevelResizes), pending ?? undefined);
}

/** What a pod holds that is taken as it stands; without the gate, what a kubelet knows of the whole pod stays in its file. */
export function allocated(
  { podLevelResizes }: PodLevelResizes,
  pod: Pod,
  before: Pick<PodAllocation, 'PodLevelResources'> | undefined,
): PodAllocation {
  const allocation = allocationOf(pod, podLevelResizes);
  return podLevelResizes ? allocation : { ...allocation, PodLevelResources: before?.PodLevelResources ?? null };
}

/** Looks at all waiting resizes, in their order. `quiet`: the pod of this UID is told by who asked. */
export function retry(
  turn: AdmissionTurn,
  trigger: RetryTrigger,
  { ready, refusals = {} }: { ready: boolean; refusals?: Refusals },
  quiet = '',
): void {
  turn.order({ type: 'retry.in', ms: ready ? RETRY_MS : FIRST_RETRY_MS });
  if (!ready) return;
  const { rules } = turn.state;
  const left: string[] = [];
  for (const uid of inTurn(turn)) {
    const before = turn.pod(uid);
    if (before === undefined) continue;
    if (decide(turn, uid, before, trigger, refusals[uid])) left.push(uid);
    const after = turn.pod(uid);
    if (uid !== quiet && after !== undefined && told(before, rules) !== told(after, rules))
      turn.order({ type: 'pod.runs', uid });
  }
  turn.change({ waiting: left });
}

/** UIDs of those that still wait, who comes first. */
function inTurn(turn: AdmissionTurn): string[] {
  const turns = turn.state.waiting.flatMap((uid) => {
    const known = turn.pod(uid);
    if (known === undefined || known.terminal) return [];
    const { desired, pending } = known;
    return [{ uid, pod: desired, given: given(known, turn.state.rules), since: pending?.since ?? null }];
  });
  return (inOrderOfTurn(turns) as typeof turns).map(({ uid }) => uid);
}

function told(pod: AllocatedPod, rules: PodLevelResizes): string {
  return JSON.stringify(running(pod.desired, pod, rules));
}

/** True: it goes on waiting. */
function decide(
  turn: AdmissionTurn,
  uid: string,
  known: AllocatedPod,
  trigger: RetryTrigger,
  refusal: string | undefined,
): boolean {
  const { desired } = known;
  const { rules } = turn.state;
  const { most = rules.settings.allocatable, limitedSwap } = rules;
  // Managers are asked before all else, as for pods that come.
  const admit = (pod: Pod) =>
    refusal === undefined ? fits(turn.state, pod) : { admit: false as const, message: refusal };
  const { resources } = rules;
  const fixed = resources && {
    cpu: resources.cpu.policy === 'static' && !resources.resizes.cpu,
    memory: resources.memory.policy === 'Static' && !resources.resizes.memory,
  };
  const verdict = decideResize({
    ...{ desired, given: given(known, rules), most, admit },
    ...(limitedSwap && { limitedSwap }),
    ...(fixed && { fixed }),
  });
  switch (verdict.kind) {
    case 'none':
      turn.changePod(uid, { pending: null });
      return false;
    case 'allocate':
      grant(turn, uid, known, trigger);
      return false;
    case 'pending':
      postpone(turn, uid, known, verdict);
      return verdict.reason === 'Deferred';
  }
}

function grant(turn: AdmissionTurn, uid: string, known: AllocatedPod, trigger: RetryTrigger): void {
  const { desired, allocation, pending, status } = known;
  if (pending?.reason === 'Deferred') turn.order({ type: 'resize.accepted', uid, trigger });
  const next = allocated(turn.state.rules, desired, allocation);
  turn.changePod(uid, { allocation: next, resizing: true, resized: true, since: turn.at, pending: null });
  // What is put in force must be on disk before.
  turn.write('allocated', 'now');
  const { actuated } = turn.state;
  if (atUid(actuated, uid) === undefined) turn.change({ actuated: withUid(actuated, uid, allocation) });
  recount(turn, { ...desired, status });
}

function postpone(
  turn: AdmissionTurn,
  uid: string,
  { desired, pending }: AllocatedPod,
  { reason, message, detail, told: evented }: Extract<ResizeDecision, { kind: 'pending' }>,
): void {
  const generation = desired.metadata?.generation ?? 0;
  if (detail !== undefined) turn.order({ type: 'resize.infeasible', uid, detail });
  const news = pending?.reason !== reason || pending.generation !== generation;
  turn.changePod(uid, { pending: pendingNote(pending ?? undefined, { reason, message, generation }, turn.at) });
  if (!news) return;
  // From now on the spec does not say any more what the pod has.
  turn.write('allocated', 'now');
  if (!evented) return;
  const event = reason === 'Deferred' ? 'ResizeDeferred' : 'ResizeInfeasible';
  turn.order({ type: 'event.record', uid, reason: event, message: resizeMessage(event, desired, generation, message) });
}
