import type { EndingPod, ShutdownRun, ShutdownStateName } from './shutdown-context.ts';
import type { ShutdownDraft } from './shutdown-draft.ts';
import { say } from './shutdown-draft.ts';
import { graceIn, groupByPriority } from './shutdown-groups.ts';
import type { ShutdownPod } from './shutdown-groups.ts';
import { setLink, TELLING_MS } from './logind-link.ts';
import { CANCELLATION_DETECTED, SHUTDOWN_DETECTED } from '../status/shutdown-words.ts';

/** For so long the containers of a pod are waited for at least, ms (kubelet's killPodNow). */
const LEAST_KILL_MS = 10_000;

/** The machine is about to go down. */
export function prepare(draft: ShutdownDraft, pods: readonly ShutdownPod[]): ShutdownStateName {
  const { at, orders } = draft;
  const { settings } = draft.context;
  say(draft, 'Shutdown manager detected new shutdown event', { event: 'shutdown' });
  orders.push({ type: 'node.event', message: SHUTDOWN_DETECTED });
  const groups = groupByPriority(settings.groups, pods);
  const run = { startedAt: at, endedAt: null, cancelledAt: null, groups, turn: -1, until: at, ending: [] };
  draft.context = { ...draft.context, run };
  // logind gives no lock any more; only a connection that is missing is still tried for.
  if (draft.context.link.state === 'up') setLink(draft, { retryAt: null });
  keepTimes(draft);
  return nextGroup(draft, run);
}

/** The next group that has pods has its turn; some of the former ones may still be ending. */
function nextGroup(draft: ShutdownDraft, run: ShutdownRun): ShutdownStateName {
  const { at, orders } = draft;
  for (let turn = run.turn + 1; ; turn++) {
    const group = run.groups[turn];
    if (group === undefined) return tellAll(draft, { ...run, turn });
    if (group.pods.length === 0) continue;
    const ending = group.pods.map((pod): EndingPod => {
      const { uid, namespace, name } = pod;
      const graceSeconds = graceIn(group, pod);
      const killBy = at + Math.max(LEAST_KILL_MS, Math.floor(graceSeconds * 1.5) * 1000);
      orders.push({ type: 'pod.end', uid, namespace, name, graceSeconds });
      return { uid, namespace, name, group: turn, graceSeconds, killBy };
    });
    run = { ...run, turn, until: at + group.seconds * 1000, ending: [...run.ending, ...ending] };
    draft.context = { ...draft.context, run };
    if (run.until > at) return 'shuttingDown.ending';
  }
}

function tellAll(draft: ShutdownDraft, run: ShutdownRun): ShutdownStateName {
  draft.context = { ...draft.context, run: { ...run, until: draft.at + TELLING_MS } };
  draft.orders.push({ type: 'statuses.await', uids: run.groups.flatMap(({ pods }) => pods.map(({ uid }) => uid)) });
  return 'shuttingDown.telling';
}

/** All containers of a pod have ended. */
export function podEnded(draft: ShutdownDraft, uid: string): ShutdownStateName {
  return onward(draft, (pod) => (pod.uid === uid ? { ...pod, killBy: null } : pod));
}

/** A pod holds nothing any more. */
export function podCleaned(draft: ShutdownDraft, uid: string): ShutdownStateName {
  return onward(draft, (pod) => (pod.uid === uid ? null : pod));
}

function onward(draft: ShutdownDraft, look: (pod: EndingPod) => EndingPod | null): ShutdownStateName {
  const { run, focus } = draft.context;
  if (run === null || !focus.startsWith('shuttingDown.')) return focus;
  const next = { ...run, ending: run.ending.flatMap((pod) => look(pod) ?? []) };
  draft.context = { ...draft.context, run: next };
  if (focus !== 'shuttingDown.ending' || next.ending.some(({ group }) => group === run.turn)) return focus;
  const { seconds = 0, priority = 0 } = run.groups[run.turn] ?? {};
  const about = { gracePeriod: String(seconds), priority: String(priority) };
  say(draft, 'Done waiting for all pods in group to terminate', about);
  return nextGroup(draft, next);
}

/** What is due: pods that have not ended in time, and the time of the group, or of the statuses. */
export function overdue(draft: ShutdownDraft): ShutdownStateName {
  const { at, orders } = draft;
  const { run, focus } = draft.context;
  if (run === null || !focus.startsWith('shuttingDown.')) return focus;
  const ending = run.ending.map((pod): EndingPod => {
    if (pod.killBy === null || pod.killBy > at) return pod;
    orders.push({ type: 'pod.late', uid: pod.uid, namespace: pod.namespace, name: pod.name });
    return { ...pod, killBy: null };
  });
  const next = { ...run, ending };
  draft.context = { ...draft.context, run: next };
  if (run.until > at) return focus;
  if (focus === 'shuttingDown.telling') {
    say(draft, 'The API server was not told in time how all pods ended', {}, 'error');
    return goDown(draft);
  }
  const { seconds = 0, priority = 0 } = run.groups[run.turn] ?? {};
  const about = { gracePeriod: String(seconds), priority: String(priority), pods: late(next) };
  say(draft, 'Shutdown manager pod killing time out', about);
  return nextGroup(draft, next);
}

function late({ ending, turn }: ShutdownRun): string {
  const own = ending.filter(({ group }) => group === turn);
  return own.map(({ namespace, name }) => `${namespace}/${name}`).join();
}

/** Nothing is left to wait for: the machine may go down. */
export function goDown(draft: ShutdownDraft): ShutdownStateName {
  const { run } = draft.context;
  if (run === null) return draft.context.focus;
  draft.context = { ...draft.context, lock: 'none', run: { ...run, endedAt: draft.at } };
  keepTimes(draft);
  draft.orders.push({ type: 'lock.release' });
  say(draft, 'Shutdown manager completed processing shutdown event, node will shutdown shortly');
  return 'shutDown';
}

/** The shutdown was called off. Pods that were told to end go on ending, those of later groups stay. */
export function callOff(draft: ShutdownDraft): void {
  const { at, orders } = draft;
  const { run } = draft.context;
  if (run === null) return;
  say(draft, 'Shutdown manager detected new shutdown event', { event: 'cancelled' });
  orders.push({ type: 'node.event', message: CANCELLATION_DETECTED });
  const open = run.endedAt === null;
  const next = { ...run, cancelledAt: at, ending: [], ...(open && { endedAt: at }) };
  draft.context = { ...draft.context, run: next };
  if (open) keepTimes(draft);
}

function keepTimes({ context, orders }: ShutdownDraft): void {
  const { run, settings } = context;
  if (run === null || !settings.keepsTimes) return;
  orders.push({ type: 'times.keep', startedAt: run.startedAt, endedAt: run.endedAt });
}
