import { allocationOf, withAllocation } from '../resize/allocation.ts';
import type { PodAllocation } from '../resize/allocation.ts';
import type { Pod } from '../protocol/api-types.ts';
import { inOrderOfTurn } from '../resize/pending-queue.ts';
import type { PodLevelResizes } from '../resize/pod-level.ts';
import { pendingNote, withPending } from '../resize/resize-conditions.ts';
import { decideResize } from '../resize/resize-decision.ts';
import type { ResizeDecision, ResizeQuestion } from '../resize/resize-decision.ts';
import { resizeMessage } from '../resize/resize-events.ts';
import type { HeldHints } from '../resource-managers/topology/hints.ts';
import { atUid, withUid } from '../supervisor/uid-table.ts';
import type { AllocatedPod, RetryTrigger } from './admission-state.ts';
import type { HeldDevices, Refusals } from './admission-messages.ts';
import type { AdmissionTurn } from './admission-turn.ts';
import { fits, given, recount, roomFor } from './judge.ts';
import type { Room } from './judge.ts';
import type { Managed } from './resource-manager.ts';

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

/** Whether resizes are looked at now, and which of them managers refuse. */
interface Chances {
  ready: boolean;
  refusals?: Refusals;
  held?: HeldDevices;
}

/** Looks at all waiting resizes, in their order. `quiet`: the pod of this UID is told by who asked. */
export function retry(
  turn: AdmissionTurn,
  trigger: RetryTrigger,
  { ready, refusals = {}, held = {} }: Chances,
  quiet = '',
): void {
  turn.order({ type: 'retry.in', ms: ready ? RETRY_MS : FIRST_RETRY_MS });
  // While room is made for one the others have to wait; they are looked at right after it.
  if (!ready || turn.state.making) return;
  const left: string[] = [];
  for (const uid of inTurn(turn)) {
    if (turn.state.making || resizes(turn, uid, { trigger, refusal: refusals[uid], held: held[uid] }, quiet))
      left.push(uid);
  }
  turn.change({ waiting: left });
}

/** Pods have gone for the resize of one: it is granted, whatever the node has left, and the others are looked at. */
export function roomMade(turn: AdmissionTurn, { uid, ...chances }: Chances & { uid: string }): void {
  const { making } = turn.state;
  if (making?.uid !== uid) return;
  const { trigger } = making;
  turn.change({ making: null });
  const waits = turn.state.waiting.includes(uid);
  if (waits && !resizes(turn, uid, { trigger, refusal: undefined, roomMade: true, held: chances.held?.[uid] }))
    turn.stopWaiting(uid);
  if (turn.state.waiting.length > 0) retry(turn, trigger, chances);
}

/** Looks at one resize. True: it goes on waiting. */
function resizes(turn: AdmissionTurn, uid: string, asked: Asked, quiet = ''): boolean {
  const { rules } = turn.state;
  const before = turn.pod(uid);
  if (before === undefined) return false;
  const waits = decide(turn, uid, before, asked);
  const after = turn.pod(uid);
  if (uid !== quiet && after !== undefined && told(before, rules) !== told(after, rules))
    turn.order({ type: 'pod.runs', uid });
  return waits;
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

/** How a resize is looked at. */
interface Asked {
  trigger: RetryTrigger;
  /** What a manager has against the pod. */
  refusal: string | undefined;
  /** Where its devices let it be. */
  held: HeldHints | undefined;
  /** Pods have gone for it. */
  roomMade?: true;
}

/** True: it goes on waiting. */
function decide(turn: AdmissionTurn, uid: string, known: AllocatedPod, asked: Asked): boolean {
  const { desired } = known;
  const { rules } = turn.state;
  const { most = rules.settings.allocatable, limitedSwap } = rules;
  const { resources } = rules;
  const fixed = resources && {
    cpu: resources.cpu.policy === 'static' && !resources.resizes.cpu,
    memory: resources.memory.policy === 'Static' && !resources.resizes.memory,
  };
  const parts = { managed: turn.state.managed };
  const verdict = decideResize({
    ...{ desired, given: given(known, rules), most, admit: (pod: Pod) => admitted(turn, pod, asked, parts) },
    ...(limitedSwap && { limitedSwap }),
    ...(fixed && { fixed }),
  });
  switch (verdict.kind) {
    case 'none':
      turn.changePod(uid, { pending: null });
      return false;
    case 'allocate':
      if (parts.managed !== turn.state.managed) turn.change(parts);
      grant(turn, uid, known, asked.trigger);
      return false;
    case 'preempt':
      turn.change({ making: { uid, trigger: asked.trigger } });
      turn.order({ type: 'resize.preempts', uid, ...verdict.room });
      return true;
    case 'pending':
      postpone(turn, uid, known, verdict);
      return verdict.reason === 'Deferred';
  }
}

/** Would the node take the pod as it wishes to be? Managers are asked before all else, as for pods that come; `parts`: what is theirs then. */
function admitted(
  turn: AdmissionTurn,
  pod: Pod,
  { refusal, roomMade, held }: Asked,
  parts: { managed: Managed },
): ReturnType<ResizeQuestion<Room>['admit']> {
  const { state } = turn;
  if (refusal !== undefined) return { admit: false, message: refusal };
  const { verdict, managed } = fits(turn, pod, { held, ...(roomMade && { roomMade }) });
  parts.managed = managed;
  if (verdict.admit || !state.rules.resizesPreempt || verdict.preempt === undefined) return verdict;
  const room = roomFor(state, pod, verdict.preempt);
  return 'problem' in room ? { admit: false, message: room.problem } : { admit: false, message: verdict.message, room };
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
