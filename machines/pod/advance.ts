import { entryOf } from '../values/entry-of.ts';
import type { Decision } from '../machine-step/act.ts';
import { statePath } from '../machine-step/step.ts';
import { backOffKey } from '../container/back-off-key.ts';
import { containerHash } from '../container-config/container-hash.ts';
import type { Pod } from '../protocol/api-types.ts';
import type { PodMessage } from '../protocol/messages.ts';
import { behaves } from '../protocol/behaviour.ts';
import { differ } from '../sources/pod-config.ts';
import { bornContainer, probesOf, tellContainer, tellProbe } from './children.ts';
import { collectGarbage, planTerminated, readMessages, readsMessages } from './clean-up.ts';
import { takeGrants } from './cpu-grants.ts';
import type { Draft } from './draft.ts';
import { forgetTasks, openDraft, own } from './draft.ts';
import { admit, adopt } from './adoption.ts';
import { followClock } from './clock-step.ts';
import { leftOver } from './left-over.ts';
import { takeRuntimeState } from './network-wait.ts';
import { mergeObserved, newestOf } from './observation.ts';
import { takeOutcome } from './outcomes.ts';
import type { NextState, PodContext } from './pod-context.ts';
import { forgetPullTurn, takePullTurn } from './pull-turns.ts';
import { report } from './report.ts';
import { tellResolverWarningsAgain } from './resolver-warnings.ts';
import { tellProbesOfSync } from './probe-syncs.ts';
import { quietProbe } from './quiet-probe.ts';
import { noteResize } from './resize.ts';
import { specContainers } from './spec.ts';
import { endAtDeadline, planSyncing } from './sync-plan.ts';
import { fireTimers, settleDeadlines } from './timers.ts';
import { beginTermination, planTerminating } from './termination.ts';
import { followVolumes } from './volume-children.ts';
import { volumesChanged } from './volume-plan.ts';
import { takeUnseen } from './unseen.ts';
import { isOwnEnding } from '../status/node-endings.ts';
import { isTerminalPhase } from '../status/phase.ts';

/**
 * One step of a pod: take the message in, let the child machines see what changed, plan from what is now
 * known, and report. The plan names the pod's next state; the chart allows the move or throws (see pod-moves.ts).
 */
export function advance(context: PodContext, message: PodMessage): Decision<PodContext> {
  return quietProbe(context, message) ?? advanceWhole(context, message);
}

/** The same, for every message: what {@link quietProbe} must be equal to. */
export function advanceWhole(context: PodContext, message: PodMessage): Decision<PodContext> {
  const draft = openDraft(context, message.at);
  if (message.type === 'clock.steppedBack') followClock(draft, message.byMs);
  if (isOverdue(draft, message)) planTerminating(draft);
  fireTimers(draft);
  take(draft, message);
  if (!draft.context.finished) {
    lookAround(draft);
    readMessages(draft);
    const { state, why } = plan(draft);
    lookAtProbes(draft);
    tellProbesOfSync(draft, message);
    draft.context.focus = state;
    draft.context.why = why;
    settleDeadlines(draft, context);
    followVolumes(draft, message);
    report(draft);
  }
  const whole = { patch: draft.context, whole: true, effects: draft.effects };
  const [from, to] = [context.focus, draft.context.focus];
  return from === to ? whole : { ...whole, move: { from, to } };
}

/** The deadline of a pod that was running is over: its containers hear of that before anything moves them on. */
function isOverdue(draft: Draft, message: PodMessage): boolean {
  const { termination, settings, finished } = draft.context;
  if (termination !== null || finished || message.type === 'pod.start') return false;
  return behaves(settings, 'deadlineComesFirst') && endAtDeadline(draft);
}

function take(draft: Draft, message: PodMessage): void {
  switch (message.type) {
    case 'pod.start':
      adopt(draft, message);
      break;
    case 'pod.update': {
      // Volumes and limits may have changed; setting them up again is harmless.
      const changed = differ(draft.context.pod, message.pod);
      const { pod } = draft.context;
      takeDefinition(draft, message.pod);
      if (changed) noteResize(draft, pod, message.pod);
      if (changed && draft.context.termination === null) {
        // While a resize is under way, the pod's cgroup changes with its containers, in their order.
        const again = draft.context.resize === undefined ? ['volumes', 'cgroup'] : ['volumes'];
        forgetTasks(draft, ...again.filter((n) => draft.context.tasks[n]?.state !== 'running'));
      }
      if (message.pod.metadata?.deletionTimestamp !== undefined) {
        beginTermination(
          draft,
          { reason: 'Deleted', message: '', gracePeriodSeconds: message.pod.metadata.deletionGracePeriodSeconds },
          null,
        );
      }
      if (isCalledEnded(draft)) beginTermination(draft, { reason: 'Completed', message: '' }, null);
      break;
    }
    case 'pod.terminate':
      beginTermination(draft, message.order, isOwnEnding(message.order.reason) ? 'Failed' : null);
      break;
    case 'pod.observed':
      delete draft.context.unseen;
      mergeObserved(draft, message.observed);
      break;
    case 'pod.unseen':
      takeUnseen(draft, message.error);
      break;
    case 'runtime.state':
      takeRuntimeState(draft, message);
      break;
    case 'pod.sync':
      if (message.nodeIPs !== undefined) takeNodeIPs(draft, message.nodeIPs);
      for (const name of Object.keys(draft.context.containers)) tellContainer(draft, name, { type: 'sync' });
      tellResolverWarningsAgain(draft);
      break;
    case 'pod.refresh':
      volumesChanged(draft);
      break;
    case 'pod.grants':
      takeGrants(draft, message.grants);
      break;
    case 'pod.admit':
      admit(draft, message);
      break;
    case 'pod.health':
      draft.context.health = message.health;
      break;
    case 'pull.turn':
      takePullTurn(draft, message.key, message.place);
      break;
    case 'timer':
    case 'clock.steppedBack':
      break;
    default:
      takeOutcome(draft, message);
      if (message.effect === 'image.Pull') forgetPullTurn(draft, message.key);
  }
}

/** What has ended keeps the addresses that it was told with. */
function takeNodeIPs({ context }: Draft, nodeIPs: readonly string[]): void {
  if (!context.focus.startsWith('terminated.')) context.nodeIPs = nodeIPs;
}

/** Somebody else has told the API that the pod has ended: that is never taken back, so nothing of it may run on (kubelet's UpdatePod). */
function isCalledEnded({ context: { source, pod, termination, settings } }: Draft): boolean {
  if (source !== 'api' || termination !== null || !isTerminalPhase(pod.status?.phase)) return false;
  return behaves(settings, 'endedElsewhere');
}

/**
 * The pod's definition changed: containers whose hash changed are told, so that a repaired one need not wait out a delay. Other
 * resources end a crash-loop back-off and nothing else.
 */
function takeDefinition(draft: Draft, pod: Pod): void {
  const { context } = draft;
  const before = new Map(specContainers(context.pod).map(({ container }) => [container.name, container]));
  context.pod = pod;
  for (const { container } of specContainers(pod)) {
    const { name } = container;
    const old = before.get(name);
    if (old === undefined || containerHash(old) !== containerHash(container))
      tellContainer(draft, name, { type: 'changed' });
    else if (
      backOffKey(old, context.settings) !== backOffKey(container, context.settings) &&
      statePath(entryOf(context.containers, name)?.value ?? '') === 'backingOff'
    )
      tellContainer(draft, name, { type: 'timer' });
  }
}

/** Container machines see what the runtime says, whenever it differs from what they hold. */
function lookAround(draft: Draft): void {
  const { context } = draft;
  for (const { container, kind } of specContainers(context.pod)) {
    const seen = newestOf(context.observed, container.name);
    const place = entryOf(context.containers, container.name) ?? bornContainer(container.name, kind);
    if (entryOf(context.containers, container.name) === undefined) own(draft, 'containers')[container.name] = place;
    if (leftOver(context, seen)) continue;
    const value = statePath(place.value);
    const holdsRunning = value === 'running' || value === 'starting.postStart' || value.startsWith('stopping');
    const runs = seen?.state === 'running';
    const settled = value === 'waiting' || value === 'backingOff' || value === 'retrying' || value === 'exited';
    const other = seen !== null && seen.id !== place.context.id;
    // What an answer did not tell, any look may.
    const doubted = value === 'inDoubt';
    const replaced = value.startsWith('stopping') && runs && other;
    if ((holdsRunning && !runs) || (settled && runs) || (value === 'waiting' && other) || replaced || doubted)
      tellContainer(draft, container.name, { type: 'observed' });
    // What was being stopped is over; the one that runs in its place is taken over, and stopped in its turn (kubelet
    // stops whatever runs in a pod, not what it remembers).
    if (replaced) tellContainer(draft, container.name, { type: 'observed' });
  }
}

function lookAtProbes(draft: Draft): void {
  for (const owner of specContainers(draft.context.pod)) {
    for (const { kind, probe } of probesOf(owner)) tellProbe(draft, owner, kind, probe, { type: 'look' });
  }
}

function plan(draft: Draft): NextState {
  if (draft.context.termination === null) {
    const next = planSyncing(draft);
    if (draft.context.termination === null) {
      if (draft.context.runtimeReady) collectGarbage(draft);
      return next;
    }
  }
  const terminating = planTerminating(draft);
  // What turns up late in a terminated pod is stopped and removed, but the phase does not go back.
  if (terminating !== null && draft.context.focus.startsWith('terminated.'))
    return { state: draft.context.focus, why: terminating.why };
  if (terminating !== null) return terminating;
  const reading = readsMessages(draft.context);
  if (reading && !draft.context.focus.startsWith('terminated.'))
    return { state: 'terminating.stoppingSandbox', why: 'termination messages are read' };
  return planTerminated(draft);
}
