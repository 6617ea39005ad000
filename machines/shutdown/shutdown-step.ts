import type { Decision } from '../machine-step/act.ts';
import { callOff, goDown, overdue, podCleaned, podEnded, prepare } from './ending-groups.ts';
import { connect, failed, guard, locked, lost, raised, setLink, tryAgain } from './logind-link.ts';
import type { ShutdownContext, ShutdownMessage, ShutdownOrder, ShutdownStateName } from './shutdown-context.ts';
import { isShuttingDown } from './shutdown-context.ts';
import type { ShutdownDraft } from './shutdown-draft.ts';

/** One message: what is known after it, the state that follows, and what the host is to do. */
export function decideShutdown(
  before: ShutdownContext,
  message: ShutdownMessage,
): Decision<ShutdownContext, ShutdownOrder> {
  const draft: ShutdownDraft = { at: message.at, context: before, orders: [] };
  const to = take(draft, message);
  const from = before.focus;
  const context = { ...draft.context, focus: to };
  // First of all: nobody is to be sent here any more.
  if (isShuttingDown(context) !== isShuttingDown(before)) draft.orders.unshift({ type: 'status.post' });
  return {
    patch: { ...context, deadline: deadlineOf(context) },
    effects: draft.orders,
    ...(from !== to && { move: { from, to } }),
  };
}

/** Takes the message in; returns the next state. A message that the state has no use for changes nothing. */
function take(draft: ShutdownDraft, message: ShutdownMessage): ShutdownStateName {
  const { focus } = draft.context;
  switch (message.type) {
    case 'shutdown.start':
      if (focus !== 'idle') return focus;
      draft.context = { ...draft.context, settings: message.settings };
      return message.settings.groups.length === 0 ? focus : connect(draft);
    case 'shutdown.connected': {
      const { delayMs, preparing } = message;
      setLink(draft, { state: 'up', delayMs, retryAt: null });
      if (isShuttingDown(draft.context)) return preparing === null ? cancelled(draft) : focus;
      if (focus !== 'guarding.connecting') return focus;
      return preparing === null ? guard(draft) : prepare(draft, preparing);
    }
    case 'shutdown.raised':
      return focus === 'guarding.raising' ? raised(draft, message.delayMs) : focus;
    case 'shutdown.locked':
      if (focus === 'shutDown') return focus;
      locked(draft);
      return focus === 'guarding.locking' ? 'guarding.inhibited' : focus;
    case 'shutdown.failed':
      return failed(draft, message);
    case 'shutdown.lost':
      return lost(draft, message.what, message.why);
    case 'shutdown.prepare':
      return isShuttingDown(draft.context) || focus === 'idle' ? focus : prepare(draft, message.pods);
    case 'shutdown.cancel':
      // Without a connection nobody can say so; the next one tells how it stands.
      return isShuttingDown(draft.context) && draft.context.link.state === 'up' ? cancelled(draft) : focus;
    case 'shutdown.ended':
      return podEnded(draft, message.uid);
    case 'shutdown.cleaned':
      return podCleaned(draft, message.uid);
    case 'shutdown.told':
      return focus === 'shuttingDown.telling' ? goDown(draft) : focus;
    case 'timer':
      return due(draft);
  }
}

function due(draft: ShutdownDraft): ShutdownStateName {
  const { at } = draft;
  const { link, focus } = draft.context;
  if (link.retryAt === null || link.retryAt > at) return overdue(draft);
  const next = tryAgain(draft);
  return isShuttingDown(draft.context) ? overdue(draft) : focus === 'guarding.unguarded' ? next : focus;
}

function cancelled(draft: ShutdownDraft): ShutdownStateName {
  callOff(draft);
  return draft.context.lock === 'held' ? 'guarding.inhibited' : guard(draft);
}

function deadlineOf({ link, run, focus }: ShutdownContext): number | null {
  const due: number[] = [];
  if (link.retryAt !== null) due.push(link.retryAt);
  if (run !== null && focus.startsWith('shuttingDown.')) {
    due.push(run.until, ...run.ending.flatMap(({ killBy }) => killBy ?? []));
  }
  return due.length === 0 ? null : Math.min(...due);
}
