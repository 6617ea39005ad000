import { rememberedBackOff } from '../container/back-off-key.ts';
import { entryOf } from '../values/entry-of.ts';
import type { Termination } from '../protocol/memory.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { PodMessage } from '../protocol/messages.ts';
import { isTerminalPhase } from '../status/phase.ts';
import { adoptProbes } from './adopt-probes.ts';
import { bornContainer, tellContainer } from './children.ts';
import { takeGrants } from './cpu-grants.ts';
import type { Draft } from './draft.ts';
import { podEvent, own } from './draft.ts';
import { leftOver } from './left-over.ts';
import { takeRuntimeState } from './network-wait.ts';
import { mergeObserved, newestOf } from './observation.ts';
import type { PodContext } from './pod-context.ts';
import { adoptResize } from './resize.ts';
import { restartsAlways, specContainers } from './spec.ts';
import { beginTermination } from './termination.ts';

/** The node does not admit the pod (kubelet rejectPod): it has failed before anything is made of it. */
function reject(draft: Draft, { reason, message }: { reason: string; message: string }): void {
  podEvent(draft, 'Warning', reason, message);
  const rejected = behaves(draft.context.settings, 'rejectedTellNoMore');
  const order = { reason, message: `Pod was rejected: ${message}`, gracePeriodSeconds: 0 };
  beginTermination(draft, { ...order, ...(rejected && { rejected: true }) }, 'Failed');
}

/** The node has judged a pod that waited for that. */
export function admit(draft: Draft, { rejection, grants, health }: Extract<PodMessage, { type: 'pod.admit' }>): void {
  const { context } = draft;
  delete context.hold;
  takeGrants(draft, grants);
  if (health !== undefined) context.health = health;
  if (rejection !== undefined && context.termination === null) reject(draft, rejection);
}

/** A copy that did not begin in the future: the clock may have been set back since it was remembered. */
function begun<T extends { since: number }>(remembered: T | undefined, at: number): T | null {
  return remembered === undefined ? null : { ...remembered, since: Math.min(remembered.since, at) };
}

/** An earlier agent ended it as an orphan, before its sources had told of it: a list may lag behind. */
function isNamedAgain(
  { context }: Draft,
  { source }: Extract<PodMessage, { type: 'pod.start' }>,
  { reason }: Termination,
): boolean {
  return reason === 'Orphaned' && source !== 'orphan' && behaves(context.settings, 'orphansComeBack');
}

/**
 * A termination goes on that an earlier agent began. When its source had given the pod up and names it now, it comes back:
 * what is dead of it stays for its next life. The earlier agent may have known that it does, and it may be given up since.
 */
function goesOn(
  { context, at }: Draft,
  { source }: Extract<PodMessage, { type: 'pod.start' }>,
  remembered: Termination,
): Termination | null {
  const { comesBack: _before, ...rest } = remembered;
  const named =
    source !== 'orphan' && rest.reason === 'Removed' && context.pod.metadata?.deletionTimestamp === undefined;
  const stays = named && behaves(context.settings, 'nextLifeCountsOn') && restartsAlways(context.pod);
  return begun({ ...rest, ...(stays && { comesBack: true }) }, at);
}

/** When the pod began, as its status in the API says; what lies ahead is of a clock that was set back since. */
function toldStart({ context, at }: Draft): number | null {
  if (!behaves(context.settings, 'startTimeIsTheApis')) return null;
  const told = Date.parse(context.pod.status?.startTime ?? '');
  return Number.isNaN(told) || told > at ? null : told;
}

/**
 * A pod begins, or is taken over from an agent (or worker) that ended: what the runtime holds is adopted as it
 * is, never restarted; the memory gives back what the runtime does not know.
 */
export function adopt(draft: Draft, message: Extract<PodMessage, { type: 'pod.start' }>): void {
  const { context } = draft;
  const { memory, observed } = message;
  takeRuntimeState(draft, message);
  takeGrants(draft, message.grants);
  if (message.nodeIPs !== undefined) context.nodeIPs = message.nodeIPs;
  if (message.health !== undefined) context.health = message.health;
  if (message.hold !== undefined) context.hold = message.hold;
  context.startedAt = memory?.startedAt ?? toldStart(draft) ?? draft.at;
  if (observed !== null) mergeObserved(draft, observed);
  context.adopted = (observed?.containers ?? []).filter((c) => c.state === 'running').map((c) => c.id);
  for (const owner of specContainers(context.pod)) {
    const { name } = owner.container;
    const kept = entryOf(memory?.containers, name);
    const born = bornContainer(name, owner.kind);
    own(draft, 'containers')[name] = {
      value: born.value,
      context: {
        ...born.context,
        backOff: begun(rememberedBackOff(kept?.backOff, owner.container, context.settings), draft.at),
        imageBackOff: begun(kept?.imageBackOff, draft.at),
        preStopDone: kept?.preStopDone ?? '',
      },
    };
    const seen = newestOf(context.observed, name);
    if (seen !== null && !leftOver(context, seen)) tellContainer(draft, name, { type: 'observed' });
    adoptProbes(draft, owner, memory?.probes);
  }
  for (const [id, text] of Object.entries(memory?.messages ?? {})) own(draft, 'messages')[id] = text;
  adoptResize(draft, memory?.resize);
  if (memory?.termination !== undefined && !isNamedAgain(draft, message, memory.termination))
    context.termination = goesOn(draft, message, memory.termination);
  const { deletionTimestamp, deletionGracePeriodSeconds } = context.pod.metadata ?? {};
  if (deletionTimestamp !== undefined && context.termination === null) {
    beginTermination(draft, { reason: 'Deleted', message: '', gracePeriodSeconds: deletionGracePeriodSeconds }, null);
  }
  if (message.rejection !== undefined && context.termination === null) reject(draft, message.rejection);
  // It ended under an earlier agent that could not clean up behind it, or whose memory is lost.
  if (message.source === 'api' && isTerminalPhase(context.pod.status?.phase) && context.termination === null)
    beginTermination(draft, { reason: 'Completed', message: '' }, null);
  if (message.source === 'orphan') {
    const gracePeriodSeconds = orphanGrace(context);
    beginTermination(draft, { reason: 'Orphaned', message: 'no source names this pod', gracePeriodSeconds }, null);
  }
}

/** Who let it go waits for nothing any more: it was deleted by force, or its time was over while no agent ran (kubelet SyncTerminatingRuntimePod). */
function orphanGrace({ pod, settings }: PodContext): number | undefined {
  return behaves(settings, 'orphansEndAtOnce') ? 1 : pod.spec?.terminationGracePeriodSeconds;
}
