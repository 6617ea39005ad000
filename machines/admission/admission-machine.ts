import { lackingForChange } from '../node-object/declared-features.ts';
import type { Node } from '../node-object/node-types.ts';
import type { Pod } from '../protocol/api-types.ts';
import { actuatedOf } from '../resize/actuated.ts';
import { withAllocation } from '../resize/allocation.ts';
import { sameRequirements } from '../resize/requirements.ts';
import { notedBefore } from '../resize/resize-conditions.ts';
import { resizeOperations } from '../resize/resize-operations.ts';
import { isTerminalPhase } from '../status/phase.ts';
import { atUid, uidEntries, uidTable, withUid, withoutUid } from '../supervisor/uid-table.ts';
import type { AdmissionMessage, AdmissionOrder } from './admission-messages.ts';
import type { AdmissionState, AllocatedPod } from './admission-state.ts';
import { AdmissionTurn } from './admission-turn.ts';
import { arriving, asks, recount, release } from './judge.ts';
import { statusClaim } from './pod-claim.ts';
import { RESOURCE_MANAGERS } from './all-managers.ts';
import { changeAll } from './resource-manager.ts';
import type { ResourceManager } from './resource-manager.ts';
import { allocated, retry, roomMade, running } from './resize-turns.ts';

type MessageOf<T extends AdmissionMessage['type']> = Extract<AdmissionMessage, { type: T }>;

/**
 * One step of admission and of what the node sets aside for pods (kubelet's canAdmitPod and allocation manager, KEP-1287): a pod
 * runs with what was allocated to it, and a wish for more is granted when it fits. Wishes that do not fit wait, and are looked
 * at when a pod ends or shrinks, and every three minutes. A message that changes nothing gives the same state again.
 */
export function stepAdmission(
  state: AdmissionState,
  message: AdmissionMessage,
  managers: readonly ResourceManager[] = RESOURCE_MANAGERS,
): { state: AdmissionState; outputs: AdmissionOrder[] } {
  const turn = new AdmissionTurn(state, message.at, managers);
  take(turn, message);
  return { state: turn.state, outputs: turn.orders };
}

/** A message of which nothing follows, as most that tell how a pod stands; one on which the step throws is none. */
export function changesNothing(state: AdmissionState, message: AdmissionMessage): boolean {
  try {
    const stepped = stepAdmission(state, message);
    return stepped.state === state && stepped.outputs.length === 0;
  } catch {
    return false;
  }
}

/** The state's name: whether resizes wait. */
export function admissionStateName({ waiting }: AdmissionState): string {
  return waiting.length > 0 ? 'resizesWait' : 'settled';
}

/** Which resizes wait, and why; '' when none does. */
export function admissionWhy({ waiting, pods, making }: AdmissionState): string {
  const words = waiting.flatMap((uid) => {
    const known = atUid(pods, uid);
    const { namespace = '', name = '' } = known?.desired.metadata ?? {};
    const why = making?.uid === uid ? 'pods are ending for it' : (known?.pending?.message ?? 'its turn has not come');
    return known === undefined ? [] : [`${namespace}/${name}: ${why}`];
  });
  return words.join('; ');
}

function take(turn: AdmissionTurn, message: AdmissionMessage): void {
  const { state } = turn;
  switch (message.type) {
    case 'checkpoint.found': {
      const { allocated, actuated } = message;
      turn.change({ before: uidTable(Object.entries(allocated)), actuatedBefore: uidTable(Object.entries(actuated)) });
      break;
    }
    case 'managed.found':
      turn.change({ managed: { ...state.managed, ...message.managed } });
      break;
    case 'node.told':
      turn.change({ node: message.node });
      break;
    case 'pod.asks':
      asks(turn, message.pod, withFloor(message.node ?? state.node, message.floor), message);
      break;
    case 'pod.comes':
      comes(turn, message.pod);
      break;
    case 'pods.came':
      if (state.waiting.length > 0) retry(turn, 'pods_added', message);
      break;
    case 'pod.changed':
      changed(turn, message);
      break;
    case 'pod.reported':
      reported(turn, message);
      break;
    case 'pod.removed':
      // Containers that still run are on its CPUs: nobody else has them before the pod is gone.
      release(turn, message.uid, message.runs);
      ended(turn, message.uid);
      break;
    case 'pod.gone':
      gone(turn, message.uid);
      break;
    case 'resizes.due':
      if (message.trigger === state.soon) turn.change({ soon: null });
      retry(turn, message.trigger, message);
      break;
    case 'room.made':
      roomMade(turn, message);
      break;
    case 'sources.spoke': {
      // What earlier agents left of pods that no source names is forgotten, but not what their containers still run on.
      const { held = [], left = [] } = message;
      const keeps = (uid: string): boolean => atUid(state.pods, uid) !== undefined || held.includes(uid);
      const mine = uidEntries(state.actuatedBefore).filter(([uid]) => keeps(uid));
      const before = uidTable(uidEntries(state.before).filter(([uid]) => held.includes(uid)));
      const managed = changeAll(turn.managers, state.managed, (manager, own) =>
        manager.keepOnly === undefined ? own : manager.keepOnly(own, (uid) => keeps(uid) || left.includes(uid)),
      );
      turn.change({ before, actuatedBefore: uidTable(mine), managed });
      break;
    }
  }
}

/** What the pod runs with is allocated. */
function comes(turn: AdmissionTurn, pod: Pod): void {
  const { before, pods, waiting } = turn.state;
  const uid = pod.metadata?.uid ?? '';
  const given = arriving(turn.state, pod);
  const terminal = isTerminalPhase(pod.status?.phase);
  const waits = given !== pod && !terminal;
  const resizing = pod.status?.conditions?.some(({ type }) => type === 'PodResizeInProgress') ?? false;
  const known: AllocatedPod = {
    desired: pod,
    allocation: allocated(turn.state.rules, given, atUid(before, uid)),
    pending: (waits && notedBefore(pod, 'PodResizePending', turn.at)) || null,
    status: statusClaim(pod.status ?? {}),
    ...{ resizing, resized: resizing, since: 0, terminal },
  };
  turn.change({
    pods: withUid(pods, uid, known),
    before: withoutUid(before, uid),
    waiting: waits ? [...waiting, uid] : waiting,
  });
  turn.write('allocated', 'soon');
}

/** A newer version; what it asks of the node that the node does not declare is only told (kubelet HandlePodUpdates). */
function changed(turn: AdmissionTurn, message: MessageOf<'pod.changed'>): void {
  const uid = message.pod.metadata?.uid ?? '';
  const known = turn.pod(uid);
  if (known === undefined) return;
  resizes(turn, message, uid, known);
  const { declaredFeatures } = turn.state.rules;
  const lacks = declaredFeatures && lackingForChange(declaredFeatures, known.desired, message.pod);
  if (lacks) turn.order({ type: 'event.record', uid, reason: 'FailedNodeDeclaredFeaturesCheck', message: lacks });
}

/** A wish that can be granted is granted at once. */
function resizes(turn: AdmissionTurn, message: MessageOf<'pod.changed'>, uid: string, known: AllocatedPod): void {
  const { pod } = message;
  if (JSON.stringify(known.desired) !== JSON.stringify(pod)) turn.changePod(uid, { desired: pod });
  const operations = resizeOperations(known.desired, pod);
  const { waiting, rules } = turn.state;
  const whole = rules.podLevelResizes && !sameRequirements(known.desired.spec?.resources, pod.spec?.resources);
  // A pod that has ended, or was given up, gets nothing more.
  if ((operations.length === 0 && !whole) || known.terminal) return;
  // Kubelet counts what is wished for containers alone.
  if (operations.length > 0) turn.order({ type: 'resize.asked', uid, operations });
  if (withAllocation(pod, known.allocation, rules.podLevelResizes) === pod) turn.changePod(uid, { pending: null });
  else if (!waiting.includes(uid)) turn.change({ waiting: [...waiting, uid] });
  if (turn.state.waiting.length > 0) retry(turn, 'pod_updated', message, uid);
}

function reported(turn: AdmissionTurn, message: MessageOf<'pod.reported'>): void {
  const { uid, status, generation, resize } = message;
  const known = turn.pod(uid);
  if (known !== undefined) {
    if (JSON.stringify(known.status) !== JSON.stringify(status)) turn.changePod(uid, { status });
    const pod = running(known.desired, known, turn.state.rules);
    if (message.initialized) {
      const { managed } = turn.state;
      const free = changeAll(turn.managers, managed, (manager, own) => manager.initialized?.(own, pod) ?? own);
      if (free !== managed) turn.change({ managed: free });
    }
    // A report from before the last allocation says nothing of it.
    if (resize !== undefined || generation >= (pod.metadata?.generation ?? 0)) actuates(turn, uid, pod, resize);
    const resizing = resize !== undefined;
    if (resizing || known.resized) {
      if (!known.resized || known.resizing !== resizing) turn.changePod(uid, { resized: true, resizing });
      measure(turn, uid, known.since, resize);
      recount(turn, { ...pod, status });
      turn.retrySoon('pod_resized');
    }
    if (message.ended) ended(turn, uid);
  }
  // As above: a pod that is to fail says so while its containers are still being stopped.
  if (message.ended) release(turn, uid, message.runs);
}

function actuates(turn: AdmissionTurn, uid: string, pod: Pod, resize: MessageOf<'pod.reported'>['resize']): void {
  const { actuated, actuatedBefore } = turn.state;
  if (atUid(actuatedBefore, uid) !== undefined) turn.change({ actuatedBefore: withoutUid(actuatedBefore, uid) });
  const now = actuatedOf(pod, resize);
  const known = atUid(actuated, uid);
  if (JSON.stringify(known) === JSON.stringify(now)) return;
  turn.change({ actuated: withUid(actuated, uid, now) });
  // Who takes over must not put the same in force again: that may restart a container.
  turn.write('actuated', known === undefined ? 'soon' : 'now');
}

function measure(turn: AdmissionTurn, uid: string, since: number, resize: MessageOf<'pod.reported'>['resize']): void {
  if (since === 0 || (resize !== undefined && resize.error === '')) return;
  turn.order({ type: 'resize.took', uid, success: resize === undefined, ms: turn.at - since });
  turn.changePod(uid, { since: 0 });
}

function ended(turn: AdmissionTurn, uid: string): void {
  if (turn.pod(uid)?.terminal !== false) return;
  turn.changePod(uid, { terminal: true });
  turn.stopWaiting(uid);
  turn.retrySoon('pods_removed');
}

function gone(turn: AdmissionTurn, uid: string): void {
  release(turn, uid);
  const { pods, actuated } = turn.state;
  if (atUid(actuated, uid) !== undefined) turn.change({ actuated: withoutUid(actuated, uid) });
  turn.stopWaiting(uid);
  if (atUid(pods, uid) === undefined) return;
  turn.change({ pods: withoutUid(pods, uid) });
  turn.write('allocated', 'soon');
  turn.write('actuated', 'soon');
  turn.retrySoon('pods_removed');
}

/** The node with at least so much of these resources (kubelet: sanitizeNodeAllocatable). */
function withFloor(node: Node | null, floor: Record<string, number> | undefined): Node | null {
  if (floor === undefined || node?.status?.allocatable === undefined) return node;
  const { allocatable } = node.status;
  const raised = Object.entries(floor).filter(([name, count]) => Number(allocatable[name] ?? '0') < count);
  if (raised.length === 0) return node;
  const more = Object.fromEntries(raised.map(([name, count]) => [name, String(count)]));
  return { ...node, status: { ...node.status, allocatable: { ...allocatable, ...more } } };
}
