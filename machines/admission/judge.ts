import type { Node } from '../node-object/node-types.ts';
import type { HeldHints } from '../resource-managers/topology/hints.ts';
import type { Pod } from '../protocol/api-types.ts';
import { withAllocation } from '../resize/allocation.ts';
import type { PodLevelResizes } from '../resize/pod-level.ts';
import { atUid, uidEntries } from '../supervisor/uid-table.ts';
import { admitPod } from './admit-pod.ts';
import type { AdmissionState, AllocatedPod } from './admission-state.ts';
import type { AdmissionMessage, Victim } from './admission-messages.ts';
import type { AdmissionTurn } from './admission-turn.ts';
import { isCounted, withPod, withoutPod } from './node-usage.ts';
import { AS_KUBELET, podsToPreempt } from './preemption.ts';
import { allocateAll, releaseAll } from './resource-manager.ts';
import type { Managed } from './resource-manager.ts';
import type { Admission, Shortage } from './rejection.ts';

const UNRECOVERED = 'Unexpected error while attempting to recover from admission failure';

/** A pod that comes, as it is to run: with what was allocated to it, by an earlier agent too. */
export function arriving({ before, rules }: Pick<AdmissionState, 'before' | 'rules'>, pod: Pod): Pod {
  return withAllocation(pod, atUid(before, pod.metadata?.uid ?? ''), rules.podLevelResizes);
}

/** A pod with what is allocated to it; the same object when that is all it wants. */
export function given(
  { desired, allocation }: Pick<AllocatedPod, 'desired' | 'allocation'>,
  { podLevelResizes }: PodLevelResizes,
): Pod {
  return withAllocation(desired, allocation, podLevelResizes);
}

/** What else is known of a pod that asks; see the message. */
export type AsksMore = Pick<Extract<AdmissionMessage, { type: 'pod.asks' }>, 'roomMade' | 'affinities'>;

/** A pod asks whether it may run here: it is counted from now on, or refused. */
export function asks(turn: AdmissionTurn, asking: Pod, node: Node | null, more: AsksMore = {}): void {
  const { roomMade, affinities } = more;
  const { state } = turn;
  const uid = asking.metadata?.uid ?? '';
  const pod = arriving(state, asking);
  const parts = partsOf(turn, pod, { affinities });
  const verdict = verdictOn(state, pod, node, parts.allocate, roomMade);
  if (!verdict.admit) {
    const { reason, message, retryWithFreshNode: again = false, preempt } = verdict;
    const room = state.rules.preempts && preempt && roomFor(state, pod, preempt);
    if (room !== undefined && 'problem' in room) {
      turn.order({ type: 'pod.refuse', uid, reason: 'UnexpectedAdmissionError', message: room.problem, again: false });
      return;
    }
    turn.order({ type: 'pod.refuse', uid, reason, message, again, ...(preempt && { preempt }) });
    if (room !== undefined) turn.order({ type: 'pods.preempt', uid, ...room });
    return;
  }
  turn.change({ managed: parts.managed, usage: withPod(state.usage, pod) });
  turn.order({ type: 'pod.take', uid });
}

/**
 * Would the node take the pod as it stands here, beside all others (a resize in place)? Managers are asked as for one that comes: what they gave it stays,
 * and one that has nothing of its own yet may get it. `managed`: what is theirs when it is resized.
 * @param roomMade pods have gone for it: resources are not asked for any more
 * @param held where the devices that it has let it be
 */
export function fits(
  turn: AdmissionTurn,
  pod: Pod,
  { roomMade, held }: { roomMade?: true; held?: HeldHints | undefined },
): { verdict: Admission; managed: Managed } {
  const { state } = turn;
  const { resizesAsk, resizesCount } = state.rules;
  // Kubelet asks its managers once, also when pods have to go.
  const parts = partsOf(turn, pod, { held, counts: !(resizesCount && roomMade) });
  const asks = (): ReturnType<typeof parts.allocate> => {
    if (resizesCount && !roomMade) turn.order({ type: 'managers.asked' });
    return parts.allocate();
  };
  const allocate = resizesAsk ? asks : undefined;
  const verdict = verdictOn(state, pod, state.node, allocate, roomMade);
  return { verdict, managed: parts.managed };
}

/** Asks managers for a pod's part when that is due; until it is given, what is theirs stays. */
function partsOf(
  turn: AdmissionTurn,
  pod: Pod,
  {
    affinities,
    held,
    counts: counted = true,
  }: { affinities?: AsksMore['affinities']; held?: HeldHints | undefined; counts?: boolean },
) {
  const { state, managers } = turn;
  const parts = {
    managed: state.managed,
    allocate() {
      const answer = allocateAll(managers, state.managed, pod, state.rules, affinities, held);
      const { counts } = answer;
      if (counted && Object.keys(counts).length > 0) turn.order({ type: 'managers.counted', counts });
      if ('admit' in answer) return answer;
      parts.managed = answer.managed;
      return null;
    },
  };
  return parts;
}

/** Who goes for a critical pod. */
export interface Room {
  victims: Victim[];
  /** The resource that is short, first of several. */
  signal: string;
}

/** Who is to go for a pod that lacks this, or why nobody can (kubelet's words). */
export function roomFor(state: AdmissionState, pod: Pod, short: readonly Shortage[]): Room | { problem: string } {
  const found = podsToPreempt(pod, activePods(state), short, state.rules.roomAsKubelets ? AS_KUBELET : undefined);
  if ('problem' in found)
    return { problem: `${UNRECOVERED}: preemption: error finding a set of pods to preempt: ${found.problem}` };
  return { victims: found.victims.map(victimOf), signal: short[0]?.resource ?? '' };
}

/** The pod is counted by what it holds now, if it is. */
export function recount(turn: AdmissionTurn, pod: Pod): void {
  const { usage } = turn.state;
  if (isCounted(usage, pod.metadata?.uid ?? '')) turn.change({ usage: withPod(usage, pod) });
}

/** The pod has ended or is gone: what it held is free; but what it had alone is its own while containers of it run (`runs`). */
export function release(turn: AdmissionTurn, uid: string, runs = false): void {
  const { usage, managed } = turn.state;
  const [less, free] = [withoutPod(usage, uid), runs ? managed : releaseAll(turn.managers, managed, uid)];
  if (less !== usage || free !== managed) turn.change({ usage: less, managed: free });
}

function verdictOn(
  { rules, usage }: AdmissionState,
  pod: Pod,
  node: Node | null,
  allocate?: () => ReturnType<NonNullable<Parameters<typeof admitPod>[0]['allocate']>>,
  roomMade?: true,
): Admission {
  return admitPod({ ...rules, pod, node, usage, ...(allocate && { allocate }), ...(roomMade && { roomMade }) });
}

/** Pods that hold something of the node, as they run. */
function activePods({ pods, usage, rules }: AdmissionState): Pod[] {
  return uidEntries(pods).flatMap(([uid, known]) => (isCounted(usage, uid) ? [given(known, rules)] : []));
}

function victimOf({ metadata, spec }: Pod): Victim {
  const { uid = '', namespace = '', name = '' } = metadata ?? {};
  return { uid, namespace, name, graceSeconds: spec?.terminationGracePeriodSeconds ?? 0 };
}
