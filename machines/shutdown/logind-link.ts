import type { LogindLink, ShutdownMessage, ShutdownStateName } from './shutdown-context.ts';
import { isShuttingDown } from './shutdown-context.ts';
import type { ShutdownDraft } from './shutdown-draft.ts';
import { say } from './shutdown-draft.ts';
import { periodOf } from './shutdown-groups.ts';

/** Pause before the first new try (kubelet's dbusReconnectPeriod), and the longest, ms. */
const RETRY = { firstMs: 1_000, maxMs: 60_000 };

/** When logind has to be told to wait longer anyway, so much more than for the pods: for their statuses, ms. */
export const TELLING_MS = 5_000;

type Failed = Extract<ShutdownMessage, { type: 'shutdown.failed' }>;

/** Asks for a connection. */
export function connect(draft: ShutdownDraft): ShutdownStateName {
  setLink(draft, { state: 'connecting', retryAt: null });
  draft.orders.push({ type: 'logind.connect' });
  return 'guarding.connecting';
}

/** The connection is there: has logind wait long enough, and takes the lock. */
export function guard(draft: ShutdownDraft): ShutdownStateName {
  const { link, settings } = draft.context;
  const needed = periodOf(settings.groups);
  if ((link.delayMs ?? 0) >= needed) return lock(draft);
  draft.orders.push({ type: 'logind.raise', delayMs: needed + TELLING_MS });
  return 'guarding.raising';
}

/** How long logind waits now. Less than was asked for is better than nothing. */
export function raised(draft: ShutdownDraft, delayMs: number): ShutdownStateName {
  setLink(draft, { delayMs });
  const needed = periodOf(draft.context.settings.groups);
  if (delayMs < needed) {
    const text = 'logind waits for less time than is configured: pods may be cut off when the machine shuts down';
    say(draft, text, { current: `${delayMs / 1000}s`, requested: `${needed / 1000}s` }, 'error');
  }
  return lock(draft);
}

/** Asks for the lock; one that is held stays until the other is there. */
export function lock(draft: ShutdownDraft): ShutdownStateName {
  setLink(draft, { retryAt: null });
  if (draft.context.lock === 'none') draft.context = { ...draft.context, lock: 'asked' };
  draft.orders.push({ type: 'lock.take' });
  return 'guarding.locking';
}

/** The lock is there. */
export function locked(draft: ShutdownDraft): void {
  const { failures } = draft.context.link;
  draft.context = { ...draft.context, lock: 'held' };
  setLink(draft, { failures: 0, problem: '' });
  say(
    draft,
    failures > 0 ? 'Shutdown manager holds the inhibitor lock again' : 'Shutdown manager holds the inhibitor lock',
  );
}

/** Something that was asked for cannot be had. Told once, until it is another problem. */
export function failed(draft: ShutdownDraft, { what, error }: Failed): ShutdownStateName {
  const { focus, lock: held } = draft.context;
  if (what === 'raise') {
    say(draft, 'Unable to override inhibit delay by shutdown manager', { err: error }, 'error');
    return focus === 'guarding.raising' ? lock(draft) : focus;
  }
  if (what === 'connect') setLink(draft, { state: 'down', delayMs: null });
  else if (held === 'asked') draft.context = { ...draft.context, lock: 'none' };
  return missing(draft, `${WORDS[what]}: ${error}`);
}

/** The connection, or the lock, is gone. */
export function lost(draft: ShutdownDraft, what: 'connection' | 'lock', why: string): ShutdownStateName {
  if (what === 'connection') setLink(draft, { state: 'down', delayMs: null });
  else draft.context = { ...draft.context, lock: 'none' };
  return missing(draft, `${WORDS[what]}: ${why}`);
}

const WORDS = {
  connect: 'logind cannot be reached',
  lock: 'the inhibitor lock cannot be held',
  connection: 'the connection to logind was lost',
};

function missing(draft: ShutdownDraft, problem: string): ShutdownStateName {
  const { focus, link } = draft.context;
  if (problem !== link.problem) say(draft, 'Unable to watch the node for shutdown events', { err: problem }, 'error');
  setLink(draft, { problem, failures: link.failures + 1 });
  // While the machine goes down the lock is no use any more, but it must be heard when that is called off.
  if (isShuttingDown(draft.context)) {
    if (draft.context.link.state === 'down') retryLater(draft, link.failures);
    return focus;
  }
  return retryLater(draft, link.failures);
}

function retryLater(draft: ShutdownDraft, failures: number): ShutdownStateName {
  const pause = Math.min(RETRY.maxMs, RETRY.firstMs * 2 ** Math.min(failures, 10));
  setLink(draft, { retryAt: draft.at + pause });
  return 'guarding.unguarded';
}

/** The pause is over. */
export function tryAgain(draft: ShutdownDraft): ShutdownStateName {
  if (draft.context.link.state === 'up') return lock(draft);
  return connect(draft);
}

/** Changes what is known of the way to logind. */
export function setLink(draft: ShutdownDraft, patch: Partial<LogindLink>): void {
  draft.context = { ...draft.context, link: { ...draft.context.link, ...patch } };
}
