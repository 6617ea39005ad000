import type { Decision } from '../machine-step/act.ts';
import type { PodMessage } from '../protocol/messages.ts';
import { probesOf, tellProbe } from './children.ts';
import { activeDeadline } from './deadline.ts';
import { openDraft } from './draft.ts';
import { probeMemoryOf } from './memory-of.ts';
import { takeOutcome } from './outcomes.ts';
import type { PodContext, PodStateName } from './pod-context.ts';
import { sameJson } from './same-json.ts';
import { specContainers } from './spec.ts';
import { notesOf } from './status-notes.ts';
import { fireProbes, settleProbes } from './timers.ts';

/** States in which a pod has nothing to do but to probe. */
const RESTING: ReadonlySet<PodStateName> = new Set([
  'syncing.running',
  'syncing.waitingForReadiness',
  'syncing.waitingForStartupProbe',
]);

/**
 * The step of a pod that rests, in which a probe runs or goes on saying what it said: nothing follows from it, so neither
 * plan nor status are looked at. It is what the whole step comes to, for a fraction of its work; most messages of a node are
 * such. Null when more may have to be done.
 */
export function quietProbe(context: PodContext, message: PodMessage): Decision<PodContext> | null {
  if (!RESTING.has(context.focus) || !isOfProbe(message) || !rests(context, message.at)) return null;
  const draft = openDraft(context, message.at);
  fireProbes(draft);
  if (message.type !== 'timer') takeOutcome(draft, message);
  const { probes } = draft.context;
  for (const key in probes)
    if (probes[key] !== context.probes[key] && !saysTheSame(context, draft.context, key)) return null;
  for (const owner of specContainers(context.pod))
    for (const { key, kind, probe } of probesOf(owner))
      if (draft.context.probes[key] !== context.probes[key]) tellProbe(draft, owner, kind, probe, { type: 'look' });
  settleProbes(draft);
  return { patch: draft.context, whole: true, effects: draft.effects };
}

type ProbeMessage = Extract<PodMessage, { type: 'timer' | 'effect.done' | 'effect.failed' }>;

function isOfProbe(message: PodMessage): message is ProbeMessage {
  if (message.type === 'timer') return true;
  return (message.type === 'effect.done' || message.type === 'effect.failed') && message.key.startsWith('probe/');
}

/** Nothing but probes is due or under way, and the status is known to follow from what is known. */
function rests(context: PodContext, at: number): boolean {
  const { termination, resize, status, tasks, containers, finished } = context;
  if (finished || termination !== null || resize !== undefined) return false;
  if (status === null || notesOf(status).settled === null) return false;
  if (at >= (activeDeadline(context) ?? Infinity)) return false;
  for (const name in tasks) if (tasks[name]?.state === 'failed') return false;
  for (const name in containers) if (containers[name]?.context.deadline !== null) return false;
  return true;
}

/** What is remembered of the probe, its result with it, has not changed. */
function saysTheSame(before: PodContext, after: PodContext, key: string): boolean {
  const [was, is] = [before.probes[key], after.probes[key]];
  if (was === undefined || is === undefined) return false;
  return sameJson(probeMemoryOf(was.context, before.settings), probeMemoryOf(is.context, after.settings));
}
