import { podStatus } from '../status/pod-status.ts';
import { terminatedStatus } from '../status/terminated-status.ts';
import type { ContainerDecision } from '../status/status-input.ts';
import { podIPs } from './children.ts';
import { readsMessages } from './clean-up.ts';
import type { Draft } from './draft.ts';
import { fingerprint } from './fingerprint.ts';
import { memoryOf } from './memory-of.ts';
import { readyOf, startedOf } from './readiness.ts';
import { specContainers } from './spec.ts';

/** Tells the pod's status, state and memory, when any of them has changed. */
export function report(draft: Draft): void {
  const { context } = draft;
  // Nothing is known of an API pod before the runtime has been asked: what the API says of it goes on to hold.
  if (context.source === 'api' && context.observed === null && context.focus === 'syncing.waitingForRuntime') return;
  const status = statusOf(draft);
  const memory = memoryOf(context);
  const reported = fingerprint(JSON.stringify([status, context.focus, context.why, memory]));
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

function statusOf(draft: Draft) {
  const { context } = draft;
  const containers: Record<string, ContainerDecision> = {};
  for (const owner of specContainers(context.pod)) {
    const { name } = owner.container;
    const waiting = context.containers[name]?.context.waiting;
    containers[name] = {
      ready: readyOf(context, owner),
      started: startedOf(context, owner),
      ...(waiting && { waiting }),
    };
  }
  const known = podIPs(draft);
  const { termination } = context;
  const told = termination !== null && (termination.phase !== null || termination.reason === 'Evicted');
  const status = podStatus({
    pod: context.pod,
    previous: context.status,
    observed: withMessages(draft),
    runtimeName: context.settings.runtimeName,
    podIPs: known.length > 0 ? known : (context.status?.podIPs ?? []).map((p) => p.ip ?? ''),
    containers,
    ...(told && {
      termination: { reason: termination.reason, message: termination.message, phase: termination.phase },
    }),
    podIsTerminal: context.focus.startsWith('terminated.'),
    at: draft.at,
    startedAt: context.startedAt,
    settings: context.settings,
  });
  return context.focus.startsWith('terminated.') ? terminatedStatus(context.pod, status) : status;
}

/** The runtime's view with the termination messages that were read put in. */
function withMessages(draft: Draft) {
  const { observed, messages } = draft.context;
  if (observed === null) return null;
  return {
    ...observed,
    containers: observed.containers.map((c) => (messages[c.id] ? { ...c, message: messages[c.id] ?? c.message } : c)),
  };
}
