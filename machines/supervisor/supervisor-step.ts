import { fnv32a } from '../values/hash.ts';
import type { Pod } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { ObservedPod } from '../protocol/observed.ts';
import type { Hold } from '../protocol/hold.ts';
import { restartsAlways } from '../pod/spec.ts';
import { barePod, harmAfter, triedSooner } from './harm.ts';
import type { AsideHarm } from './harm.ts';
import { orphanPod } from './orphan-pod.ts';
import { PodTableDraft, trackedPod, trackedPods } from './pod-table.ts';
import type { PodTable } from './pod-table.ts';
import type { SupervisorContext, SupervisorMessage, SupervisorOrder } from './supervisor-context.ts';
import { terminate } from './supervisor-context.ts';
import type { Rejection, TrackedPod } from './tracked-pod.ts';

interface Turn {
  pods: PodTableDraft;
  orders: SupervisorOrder[];
  shards: number;
  /** Behaviour `nextLifeCountsOn`. */
  countsOn: boolean;
  /** Behaviour `staticPodsWaitAlone`. */
  staticsOnly: boolean;
  /** UIDs of pods that do not wait, by full name: made once in a turn, when it is asked for. */
  started: Map<string, string[]> | null;
}

/** Takes one message in: which actors to start, tell or forget. Pure; order of orders is the order of carrying out. */
export function decideSupervision(
  context: SupervisorContext,
  message: SupervisorMessage,
): { context: SupervisorContext; orders: SupervisorOrder[] } {
  // A look at a tracked pod changes nothing here: the common case costs no copy.
  if (message.type === 'seen') {
    const tracked = trackedPod(context.pods, message.observed.uid);
    if (tracked !== undefined) {
      const told =
        tracked.phase === 'started' ? [tell(tracked, { type: 'pod.observed', observed: message.observed })] : [];
      return { context, orders: told };
    }
  }
  const turn: Turn = {
    pods: new PodTableDraft(context.pods),
    orders: [],
    shards: context.shards,
    countsOn: behaves(context, 'nextLifeCountsOn'),
    staticsOnly: behaves(context, 'staticPodsWaitAlone'),
    started: null,
  };
  let { sourcesReady, unexplained } = context;
  switch (message.type) {
    case 'config':
      for (const pod of message.update.pods) takeConfig(turn, message, pod);
      break;
    case 'admitted':
      admitted(turn, message);
      break;
    case 'sourcesReady':
      sourcesReady = true;
      break;
    case 'seen':
      if (sourcesReady) killOrphan(turn, message.observed);
      break;
    case 'finished':
      finish(turn, message.uid);
      break;
    case 'retryStart': {
      const tracked = turn.pods.get(message.uid);
      if (tracked?.phase === 'started') start(turn, tracked);
      break;
    }
    case 'shardReplaced':
      unexplained = takeBlame(turn, message, unexplained);
      for (const { uid } of startedOn(turn.pods.table(), message.shard)) resume(turn, uid);
      break;
    case 'tryAgain': {
      const tracked = turn.pods.get(message.uid);
      if (tracked?.phase === 'aside' && tracked.harm?.until === message.until) resume(turn, message.uid);
      break;
    }
  }
  const patch = { sourcesReady, pods: turn.pods.table(), ...(unexplained !== undefined && { unexplained }) };
  return { context: { ...context, ...patch }, orders: turn.orders };
}

/** A worker died: whom it died on is put aside when it was not the first. Returns the shards whose last death nobody explains. */
function takeBlame(
  turn: Turn,
  { at, shard, blame }: Extract<SupervisorMessage, { type: 'shardReplaced' }>,
  before: SupervisorContext['unexplained'],
): SupervisorContext['unexplained'] {
  if (blame === undefined) return before;
  const { [shard]: unexplained, ...others } = before ?? {};
  if (blame.uid === null) return { ...others, [shard]: at };
  const tracked = turn.pods.get(blame.uid);
  if (tracked?.phase !== 'started') return others;
  const harm = harmAfter(tracked.harm, at, blame.problem, unexplained);
  if (harm.until === null) turn.pods.put({ ...tracked, harm });
  else putAside(turn, tracked, { ...harm, until: harm.until });
  return others;
}

function putAside(turn: Turn, tracked: TrackedPod, harm: AsideHarm): void {
  turn.pods.put({ ...tracked, phase: 'aside', harm });
  turn.orders.push({ type: 'aside', uid: tracked.uid, shard: tracked.shard, harm });
}

/** Gives a pod an actor in a worker that knows nothing of it; one that was to end is told so again. */
function resume(turn: Turn, uid: string): void {
  const tracked = turn.pods.get(uid);
  if (tracked === undefined) return;
  start(turn, tracked);
  if (!tracked.terminating) return;
  const comesBack = tracked.remains === true && tracked.comeback !== null && restartsAlways(tracked.comeback);
  turn.orders.push(tell(tracked, terminate({ reason: 'Removed', message: '', ...(comesBack && { comesBack: true }) })));
}

/** The pod as its actor gets it. */
function givenOf({ pod, terminating, harm }: TrackedPod): Pod {
  return terminating && harm !== undefined && harm.asides > 0 ? barePod(pod) : pod;
}

/** The shard's pods that have an actor, by UID. */
function startedOn(pods: PodTable, shard: number): TrackedPod[] {
  const started = trackedPods(pods).filter((tracked) => tracked.shard === shard && tracked.phase === 'started');
  return started.sort((a, b) => (a.uid < b.uid ? -1 : 1));
}

function tell(tracked: TrackedPod, message: Extract<SupervisorOrder, { type: 'tell' }>['message']): SupervisorOrder {
  return { type: 'tell', uid: tracked.uid, shard: tracked.shard, message };
}

function takeConfig(
  turn: Turn,
  { at, update, rejections, holds }: Extract<SupervisorMessage, { type: 'config' }>,
  pod: Pod,
): void {
  const uid = pod.metadata?.uid ?? '';
  const tracked = turn.pods.get(uid);
  switch (update.op) {
    case 'ADD':
      if (tracked === undefined) add(turn, pod, update.source, rejections?.[uid], holds?.[uid]);
      else if (tracked.source === 'orphan')
        comeBack(turn, { ...tracked, comebackSource: update.source }, pod, rejections?.[uid]);
      else if (tracked.terminating) comeBack(turn, { ...tracked, source: update.source }, pod, rejections?.[uid]);
      else change(turn, tracked, pod, at);
      break;
    case 'UPDATE':
    case 'DELETE':
      if (tracked !== undefined) change(turn, tracked, pod, at);
      break;
    case 'REMOVE':
      if (tracked !== undefined) remove(turn, tracked, at);
      break;
    case 'RECONCILE':
      // What others wrote into the status (readiness gates) counts for the pod's own conditions.
      if (tracked?.phase === 'aside') turn.pods.put({ ...tracked, pod });
      else if (tracked !== undefined) change(turn, tracked, pod, at);
      break;
  }
}

function add(turn: Turn, pod: Pod, source: TrackedPod['source'], rejection?: Rejection, hold?: Hold): void {
  const uid = pod.metadata?.uid ?? '';
  const fullName = `${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`;
  const tracked: TrackedPod = {
    uid,
    fullName,
    pod,
    source,
    shard: shardOf(uid, turn.shards),
    phase: 'waiting',
    terminating: false,
    comeback: null,
    ...(rejection !== undefined && { rejection }),
    ...(hold !== undefined && { hold }),
  };
  turn.pods.put(tracked);
  if (!predecessorOf(turn, tracked)) start(turn, tracked);
}

/** Another pod of the same full name still has an actor, or is put aside: it must end first. */
function predecessorOf(turn: Turn, tracked: TrackedPod): boolean {
  const { uid, fullName } = tracked;
  if (!takesTurns(turn, tracked)) return false;
  return (startedByName(turn).get(fullName) ?? []).some((other) => other !== uid && turn.pods.get(other) !== undefined);
}

/** Pods of the API neither wait nor are waited for: who deletes one by force wants the next of its name to run now. */
function takesTurns({ staticsOnly }: Turn, { source }: TrackedPod): boolean {
  return !staticsOnly || source !== 'api';
}

function startedByName(turn: Turn): Map<string, string[]> {
  if (turn.started !== null) return turn.started;
  turn.started = new Map();
  for (const tracked of trackedPods(turn.pods.table()))
    if (tracked.phase !== 'waiting' && takesTurns(turn, tracked)) noteStarted(turn.started, tracked);
  return turn.started;
}

function noteStarted(started: Map<string, string[]>, { fullName, uid }: TrackedPod): void {
  const uids = started.get(fullName);
  if (uids === undefined) started.set(fullName, [uid]);
  else uids.push(uid);
}

function start(turn: Turn, tracked: TrackedPod): void {
  const { uid, shard, source, rejection, hold, harm } = tracked;
  const pod = givenOf(tracked);
  turn.pods.put({ ...tracked, phase: 'started', ...(harm !== undefined && { harm: { ...harm, until: null } }) });
  if (turn.started !== null && takesTurns(turn, tracked)) noteStarted(turn.started, tracked);
  const verdict = { ...(rejection !== undefined && { rejection }), ...(hold !== undefined && { hold }) };
  turn.orders.push({ type: 'start', uid, shard, pod, source, ...verdict });
}

/** The node has judged a pod that waited for that. One that ends meanwhile, or lives anew, waits no more. */
function admitted(turn: Turn, { at, pod, rejection }: Extract<SupervisorMessage, { type: 'admitted' }>): void {
  const before = turn.pods.get(pod.metadata?.uid ?? '');
  if (before?.hold === undefined) return;
  const { hold: _over, ...tracked } = before;
  const judged = { ...tracked, ...(rejection !== undefined && { rejection }) };
  turn.pods.put(judged);
  change(turn, judged, pod, at);
  if (judged.phase !== 'started') return;
  turn.orders.push(tell(judged, { type: 'pod.admit', ...(rejection !== undefined && { rejection }) }));
}

/**
 * A pod is named again while it ends: it is started anew afterwards. What was dead of it is its next life's, as with kubelet
 * (whose garbage collector comes each minute), unless that would keep it from running.
 */
function comeBack(
  turn: Turn,
  { comebackRejection: _old, ...tracked }: TrackedPod,
  pod: Pod,
  rejection?: Rejection,
): void {
  const refused = turn.countsOn && rejection !== undefined && { comebackRejection: rejection };
  const stays = turn.countsOn && tracked.phase === 'started' && restartsAlways(pod);
  turn.pods.put({ ...tracked, comeback: pod, ...refused, ...(stays && { remains: true }) });
  if (!stays) return;
  const message = 'the pod was removed from its source, which names it again';
  turn.orders.push(tell(tracked, terminate({ reason: 'Removed', message, comesBack: true })));
}

function change(turn: Turn, tracked: TrackedPod, pod: Pod, at: number): void {
  const terminating = tracked.terminating || pod.metadata?.deletionTimestamp !== undefined;
  const changed = tracked.comeback === null ? { ...tracked, pod, terminating } : { ...tracked, comeback: pod };
  turn.pods.put(changed);
  if (tracked.phase === 'aside') comeSooner(turn, changed, at);
  else if (tracked.phase === 'started' && tracked.comeback === null)
    turn.orders.push(tell(tracked, { type: 'pod.update', pod: givenOf(changed) }));
}

/** A pod that is put aside was changed. */
function comeSooner(turn: Turn, tracked: TrackedPod, at: number): void {
  if (tracked.harm === undefined) return;
  const harm = triedSooner(tracked.harm, at);
  if (harm.until !== null && harm.until !== tracked.harm.until) putAside(turn, tracked, { ...harm, until: harm.until });
}

function remove(turn: Turn, tracked: TrackedPod, at: number): void {
  if (tracked.phase === 'waiting') {
    turn.pods.delete(tracked.uid);
    turn.orders.push({ type: 'forget', uid: tracked.uid });
    return;
  }
  const { comebackRejection: _refused, ...rest } = tracked;
  const removed = { ...rest, terminating: true, comeback: null };
  turn.pods.put(removed);
  if (tracked.phase === 'aside') comeSooner(turn, removed, at);
  else
    turn.orders.push(tell(tracked, terminate({ reason: 'Removed', message: 'the pod was removed from its source' })));
}

function finish(turn: Turn, uid: string): void {
  const tracked = turn.pods.get(uid);
  if (tracked === undefined) return;
  turn.pods.delete(uid);
  // It ended by an order that an earlier agent had given, and its source names it again.
  const { pod, source, comeback, comebackSource, comebackRejection, terminating } = tracked;
  const wanted = !terminating && source !== 'orphan' && pod.metadata?.deletionTimestamp === undefined;
  const again = comeback ?? (wanted ? pod : null);
  const remains = turn.countsOn && (tracked.remains === true || again !== null);
  turn.orders.push({ type: 'forget', uid, ...(remains && { remains }) });
  if (again !== null) add(turn, again, comebackSource ?? source, comebackRejection);
  const next = turn.pods
    .waitingUids()
    .map((other) => turn.pods.get(other))
    .find((other) => other?.fullName === tracked.fullName);
  if (next !== undefined && !predecessorOf(turn, next)) start(turn, next);
}

/** A pod that the runtime holds and no source names is taken up only to be stopped and removed. */
function killOrphan(turn: Turn, observed: ObservedPod): void {
  if (observed.sandboxes.length === 0 && observed.containers.length === 0) return;
  const pod = orphanPod(observed);
  const { uid } = observed;
  const tracked: TrackedPod = {
    uid,
    fullName: `${observed.namespace}/${observed.name}`,
    pod,
    source: 'orphan',
    shard: shardOf(uid, turn.shards),
    phase: 'waiting',
    terminating: true,
    comeback: null,
  };
  start(turn, tracked);
}

/** Sticky place of a pod: a hash of its UID. */
export function shardOf(uid: string, shards: number): number {
  return fnv32a(uid) % shards;
}
