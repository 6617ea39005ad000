import { entryOf } from '../values/entry-of.ts';
import { podCgroup } from '../qos/pod-cgroup.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { ObservedContainer } from '../protocol/observed.ts';
import { statePath } from '../machine-step/step.ts';
import type { Draft } from './draft.ts';
import { taskOf, want } from './draft.ts';
import { leftOver, takesUp } from './left-over.ts';
import type { NextState, PodContext } from './pod-context.ts';
import { ANNOTATION } from '../protocol/runtime-labels.ts';

/** Dead containers kept for each name, unless the node is told otherwise (kubelet minDeadContainerInPod). */
const KEPT_DEAD = 1;

/** `<pod>_<ns>_<container>-<id>.log`, the link in /var/log/containers. */
export function logLinkName(draft: Draft, container: ObservedContainer): string {
  const pod = draft.context.pod.metadata;
  return `${pod?.name ?? ''}_${pod?.namespace ?? ''}_${container.name}-${container.id}.log`;
}

/** The runtime's reason for the end of a container that could not even be started: it has no log. */
const NEVER_RAN = 'ContainerCannotRun';

/** Reads the termination message of each ended container once. */
export function readMessages(draft: Draft): void {
  const { context } = draft;
  for (const c of context.observed?.containers ?? []) {
    if (c.state !== 'exited' || entryOf(context.messages, c.id) !== undefined) continue;
    const path = c.terminationLogHostPath ?? '';
    const failed = c.exitCode !== 0 && !(c.reason === NEVER_RAN && behaves(context.settings, 'wordsFollowTheRuntimes'));
    const fallback = c.annotations[ANNOTATION.terminationMessagePolicy] === 'FallbackToLogsOnError' && failed;
    if (path === '' && !fallback) continue;
    want(draft, `message/${c.id}`, (key) => ({
      type: 'host.ReadTerminationMessage',
      key,
      params: { path, fallbackLogPath: fallback ? c.logPath : undefined, maxBytes: 4096, maxLines: 80 },
    }));
  }
}

/** A termination message is being read. */
export function readsMessages(context: PodContext): boolean {
  const { tasks } = context;
  for (const name in tasks) if (tasks[name]?.state === 'running' && name.startsWith('message/')) return true;
  return false;
}

/** Removes old dead containers and old sandboxes while the pod lives; the newest dead one of each name stays for its log. */
export function collectGarbage(draft: Draft): void {
  const { context } = draft;
  const observed = context.observed;
  if (observed === null) return;
  const ownId = (c: ObservedContainer) => entryOf(context.containers, c.name)?.context.id ?? '';
  const isOwn = (c: ObservedContainer) => ownId(c) === c.id;
  const dead = new Map<string, ObservedContainer[]>();
  for (const c of observed.containers) {
    if (c.state === 'running') continue;
    // A container that was made but not started counts as dead once its machine has gone on without it, not while
    // the answer of its own CreateContainer is under way, nor when it is to be started.
    if (
      c.state === 'created' &&
      (isOwn(c) ||
        statePath(entryOf(context.containers, c.name)?.value ?? '') === 'starting.creating' ||
        takesUp(context, c))
    )
      continue;
    dead.set(c.name, [...(dead.get(c.name) ?? []), c]);
  }
  for (const list of dead.values()) {
    const left = list.filter((c) => leftOver(context, c));
    // By number, whatever the clock said: the last one's number is the pod's count of restarts.
    const ended = list.filter((c) => !left.includes(c)).sort((a, b) => b.restartCount - a.restartCount);
    for (const c of [...ended.slice(context.settings.keptDead ?? KEPT_DEAD), ...left]) removeContainer(draft, c);
  }
  for (const sandbox of observed.sandboxes.slice(1)) {
    if (
      sandbox.state === 'ready' ||
      observed.containers.some((c) => c.sandboxId === sandbox.id && c.state === 'running')
    )
      continue;
    if (observed.containers.some((c) => c.sandboxId === sandbox.id)) continue;
    want(draft, `sandbox.remove/${sandbox.id}`, (key) => ({
      type: 'cri.RemovePodSandbox',
      key,
      params: { podSandboxId: sandbox.id },
    }));
  }
}

/** Has one container removed, with its log. */
export function removeContainer(draft: Draft, c: ObservedContainer): void {
  const { context } = draft;
  // The next one has its number, and so the path of its log: what is removed later would be the next one's.
  if (behaves(context.settings, 'createdAreStarted') && leftOver(context, c)) {
    removeLog(draft, c);
    if (taskOf(draft, `container.log/${c.id}`)?.state === 'running') return;
  }
  const removed = want(draft, `container.remove/${c.id}`, (key) => ({
    type: 'cri.RemoveContainer',
    key,
    params: { containerId: c.id },
  }));
  if (!removed) removeLog(draft, c);
}

function removeLog(draft: Draft, c: ObservedContainer): void {
  if (c.logPath === '') return;
  want(draft, `container.log/${c.id}`, (key) => ({
    type: 'host.RemoveContainerLog',
    key,
    params: { logPath: c.logPath, linkName: logLinkName(draft, c) },
  }));
}

/**
 * One look at a pod that has ended (kubelet SyncTerminatedPod and the garbage collectors): volumes and cgroup go at
 * once; containers, sandboxes and logs stay while its source still names it, or names it again, and go when it does not.
 */
export function planTerminated(draft: Draft): NextState {
  const { context } = draft;
  // What is still being set up would come back after it was removed.
  if (['volumes', 'volumes.refresh', 'cgroup'].some((name) => context.tasks[name]?.state === 'running')) {
    return { state: 'terminated.cleaningUp', why: 'volumes or cgroup are still being set up' };
  }
  const tornDown = want(draft, 'teardown', (key) => ({
    type: 'host.TearDownPod',
    key,
    params: { podUid: context.uid },
  }));
  if (!tornDown) return { state: 'terminated.cleaningUp', why: context.tasks['teardown']?.error?.message ?? '' };
  if (context.settings.cgroupsPerQOS) {
    const { path } = podCgroup(context.pod, context.settings);
    const gone = want(draft, 'cgroup.remove', (key) => ({ type: 'host.RemovePodCgroup', key, params: { path } }));
    if (!gone) return { state: 'terminated.cleaningUp', why: context.tasks['cgroup.remove']?.error?.message ?? '' };
  }
  if (!(context.termination?.deletedFromSource ?? false)) {
    return { state: 'terminated.kept', why: 'its source still names it: containers and logs stay for a look' };
  }
  // Kubelet's garbage collector hardly ever comes in between either: restarts are counted on, the last log can be read.
  const stays = context.termination?.comesBack === true;
  if (!stays && !removeAll(draft)) return { state: 'terminated.removing', why: '' };
  if (!context.finished) {
    context.finished = true;
    draft.effects.push({ type: 'pod.Finished', key: '', params: {} });
  }
  return { state: 'terminated.finished', why: stays ? 'its source names it again: its next life counts on' : '' };
}

function removeAll(draft: Draft): boolean {
  const { context } = draft;
  let all = true;
  for (const c of context.observed?.containers ?? []) {
    all = false;
    want(draft, `container.remove/${c.id}`, (key) => ({
      type: 'cri.RemoveContainer',
      key,
      params: { containerId: c.id },
    }));
  }
  if (!all) return false;
  // The sandbox is the last trace of the pod: an agent that begins in between finds by it what is still to be removed.
  const logsFirst = behaves(context.settings, 'logsBeforeSandbox');
  if (logsFirst && !removeLogs(draft)) return false;
  for (const s of context.observed?.sandboxes ?? []) {
    all = false;
    want(draft, `sandbox.remove/${s.id}`, (key) => ({
      type: 'cri.RemovePodSandbox',
      key,
      params: { podSandboxId: s.id },
    }));
  }
  return all && (logsFirst || removeLogs(draft));
}

function removeLogs(draft: Draft): boolean {
  const { context } = draft;
  const pod = context.pod.metadata;
  const logDirectory = `${context.settings.podLogsDir}/${pod?.namespace ?? ''}_${pod?.name ?? ''}_${context.uid}`;
  const linkPrefix = `${pod?.name ?? ''}_${pod?.namespace ?? ''}_`;
  return want(draft, 'logs.remove', (key) => ({
    type: 'host.RemovePodLogs',
    key,
    params: { logDirectory, linkPrefix },
  }));
}
