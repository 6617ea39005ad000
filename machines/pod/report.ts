import { entryOf } from '../values/entry-of.ts';
import type { PodStatus } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { PodMemory } from '../protocol/memory.ts';
import type { ObservedPod } from '../protocol/observed.ts';
import { podStatus } from '../status/pod-status.ts';
import type { ResourcesInForce } from '../status/pod-level-resources.ts';
import { terminatedStatus } from '../status/terminated-status.ts';
import type { ContainerDecision } from '../status/status-input.ts';
import { podCgroup } from '../qos/pod-cgroup.ts';
import { actuatedOf } from '../resize/actuated.ts';
import { withAllocation } from '../resize/allocation.ts';
import { podIPs } from './children.ts';
import { readsMessages } from './clean-up.ts';
import type { Draft } from './draft.ts';
import { printed, printing } from '../values/fingerprint.ts';
import { memoryOf } from './memory-of.ts';
import type { PodContext } from './pod-context.ts';
import { imageVolumeWaiting } from './awaited-images.ts';
import { isInHook, isUnseen, readyOf, startedOf } from './readiness.ts';
import { restartAllOf } from './restart-all.ts';
import { sameJson } from './same-json.ts';
import { settingsNow } from './settings-now.ts';
import { specContainers } from './spec.ts';
import { endIsHidden } from './start-again.ts';
import { notesOf } from './status-notes.ts';
import { memoryText, statusText } from './status-text.ts';
import { isOwnEnding } from '../status/node-endings.ts';

/** Tells the pod's status, state and memory, when any of them has changed. */
export function report(draft: Draft): void {
  const { context } = draft;
  // Nothing is known of an API pod before the runtime has been asked: what the API says of it goes on to hold.
  if (context.source === 'api' && context.observed === null && context.focus === 'syncing.waitingForRuntime') return;
  const status = settledStatus(draft);
  const memory = memoryOf(context);
  const reported = printOf(status, context, memory);
  context.status = status;
  // An ended container is never told without its last words (kubelet reads them before it looks at the state).
  if (readsMessages(context)) return;
  if (reported === context.reported) return;
  context.reported = reported;
  draft.effects.push({
    type: 'status.Publish',
    key: '',
    params: { status, state: context.focus, why: context.why, memory },
  });
}

function printOf(status: PodStatus, { focus, why }: PodContext, memory: PodMemory): string {
  const notes = notesOf(status);
  const known = notes.print;
  if (known !== null && known.focus === focus && known.why === why && sameJson(known.memory, memory))
    return known.print;
  notes.printing ??= printing(statusText(status), OPENED);
  const rest = `,${JSON.stringify(focus)},${JSON.stringify(why)},${memoryText(memory)}]`;
  const print = printed(printing(rest, notes.printing));
  notes.print = { focus, why, memory, print };
  return print;
}

/** The report's fingerprint is that of the JSON list of status, state, reason and memory. */
const OPENED = printing('[');

/**
 * All that a status follows from, besides the status before it: objects that are never changed in place, and plain values.
 * Time is missing on purpose, see {@link settledStatus}.
 */
type Inputs = readonly unknown[];

/**
 * The pod's status. One that was computed from itself and the same inputs, and came out the same, is not computed again:
 * the time of day enters a status only where a condition changes, and here none did.
 */
function settledStatus(draft: Draft): PodStatus {
  const { context } = draft;
  const before = context.status;
  const containers = decisionsOf(context);
  const inputs = inputsOf(draft, containers);
  if (before === null) return statusOf(draft, containers);
  const notes = notesOf(before);
  if (notes.settled !== null && sameInputs(notes.settled, inputs)) return before;
  const status = statusOf(draft, containers);
  if (!sameJson(before, status)) return status;
  // A copy is no longer than what it holds, which a list that grew is.
  notes.settled = inputs.slice();
  return before;
}

function sameInputs(a: Inputs, b: Inputs): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function inputsOf(draft: Draft, containers: Record<string, ContainerDecision>): Inputs {
  const { context } = draft;
  const { observed, messages } = context;
  const out: unknown[] = [
    context.pod,
    context.settings,
    context.termination,
    context.startedAt,
    context.focus.startsWith('terminated.'),
    observed === null,
    context.resize,
    context.health,
    context.nodeIPs,
    restartAllOf(context),
  ];
  for (const { container } of specContainers(context.pod)) {
    const decision = containers[container.name];
    out.push(decision?.ready, decision?.started, decision?.waiting, decision?.endIsHidden);
    if (isInHook(context, container.name)) out.push(container.name);
  }
  for (const c of observed?.containers ?? []) out.push(c, entryOf(messages, c.id));
  out.push('sandboxes');
  for (const s of observed?.sandboxes ?? []) out.push(s);
  out.push('ips');
  for (const ip of podIPs(draft)) out.push(ip);
  return out;
}

function decisionsOf(context: PodContext): Record<string, ContainerDecision> {
  const containers: Record<string, ContainerDecision> = {};
  for (const owner of specContainers(context.pod)) {
    const { name } = owner.container;
    const waiting = context.containers[name]?.context.waiting ?? imageVolumeWaiting(context, name);
    const unseen = isUnseen(context, name);
    containers[name] = {
      ready: !unseen && readyOf(context, owner),
      started: !unseen && startedOf(context, owner),
      ...(endIsHidden(context, owner) && { endIsHidden: true }),
      ...(waiting && { waiting }),
    };
  }
  return containers;
}

function statusOf(draft: Draft, containers: Record<string, ContainerDecision>): PodStatus {
  const { context } = draft;
  const known = podIPs(draft);
  const { termination } = context;
  const restartAll = restartAllOf(context);
  const told = termination !== null && (termination.phase !== null || isOwnEnding(termination.reason));
  const status = podStatus({
    pod: context.pod,
    previous: context.status,
    observed: toldOf(context),
    runtimeName: context.settings.runtimeName,
    podIPs: known.length > 0 ? known : (context.status?.podIPs ?? []).map((p) => p.ip ?? ''),
    containers,
    ...(told && {
      termination: {
        reason: termination.reason,
        message: termination.message,
        phase: termination.phase,
        ...(termination.disruption === true && { disruptedAt: termination.since }),
        ...(termination.rejected && { rejected: true as const }),
      },
    }),
    ...(context.resize && { resize: context.resize }),
    ...(context.settings.podLevelResizes && { inForce: inForceOf(context) }),
    ...(context.health && { health: context.health }),
    ...(restartAll && { restartAll }),
    podIsTerminal: context.focus.startsWith('terminated.'),
    at: draft.at,
    startedAt: context.startedAt,
    settings: settingsNow(context),
  });
  return context.focus.startsWith('terminated.')
    ? terminatedStatus(context.pod, status, context.settings, context.status)
    : status;
}

/** The runtime's view as it is told: with the termination messages that were read, and running what has come through its hook and was looked at. */
function toldOf(context: PodContext): ObservedPod | null {
  const { observed, messages, containers } = context;
  if (observed === null) return null;
  const follows = behaves(context.settings, 'wordsFollowTheRuntimes');
  return {
    ...observed,
    containers: observed.containers.map((c) => {
      const message = entryOf(messages, c.id);
      if (message) return { ...c, message: c.message !== '' && follows ? `${c.message}: ${message}` : message };
      const early =
        c.state === 'running' &&
        (c.unseen === true || (entryOf(containers, c.name)?.context.id === c.id && isInHook(context, c.name)));
      return early ? { ...c, state: 'created' } : c;
    }),
  };
}

/** What was last put in force of the pod's resources. */
function inForceOf({ pod, resize, settings }: PodContext): ResourcesInForce {
  const has = resize === undefined ? pod : withAllocation(pod, actuatedOf(pod, resize), true);
  return { pod: has, cgroup: podCgroup(has, settings) };
}
