import type { ShutdownGroup, ShutdownPod } from './shutdown-groups.ts';

/** How the node is to shut down. */
export interface ShutdownSettings {
  /** From the lowest priority to the highest. */
  groups: ShutdownGroup[];
  /** Times of a shutdown are kept in a file and told as metrics (gate GracefulNodeShutdownBasedOnPodPriority). */
  keepsTimes: boolean;
}

/** A pod that was told to end, and has not been cleaned up yet. */
export interface EndingPod {
  uid: string;
  namespace: string;
  name: string;
  /** Place of its group. */
  group: number;
  graceSeconds: number;
  /** Until when its containers should have ended, ms since the epoch; null when they have, or when it was told that they had not. */
  killBy: number | null;
}

/** A shutdown, under way or the last one. Times are ms since the epoch. */
export interface ShutdownRun {
  startedAt: number;
  /** When the node let the machine go down; null before. */
  endedAt: number | null;
  /** When it was called off; null when it was not. */
  cancelledAt: number | null;
  /** Pods of each group, in the order in which groups end. */
  groups: (ShutdownGroup & { pods: ShutdownPod[] })[];
  /** Place of the group that is being ended; as many as there are groups when all had their turn. */
  turn: number;
  /** Until when that group is waited for. */
  until: number;
  ending: EndingPod[];
}

/** The way to logind. */
export interface LogindLink {
  state: 'down' | 'connecting' | 'up';
  /** For so long logind holds a shutdown up at most (InhibitDelayMaxUSec), ms; null when that is not known. */
  delayMs: number | null;
  /** Failures in a row. */
  failures: number;
  /** What failed last, with its error; '' when nothing did. */
  problem: string;
  /** When it is tried again, ms since the epoch; null: nothing waits. */
  retryAt: number | null;
}

/** The shutdown machine's memory; plain JSON. */
export interface ShutdownContext {
  settings: ShutdownSettings;
  link: LogindLink;
  /** The delay inhibitor lock. */
  lock: 'none' | 'asked' | 'held';
  run: ShutdownRun | null;
  /** When the machine wants to be called, ms since the epoch; null: never. */
  deadline: number | null;
  focus: ShutdownStateName;
}

/** States of the chart, as dotted paths. What may follow what: shutdown-moves.ts. */
export type ShutdownStateName =
  | 'idle'
  | 'guarding.connecting'
  | 'guarding.raising'
  | 'guarding.locking'
  | 'guarding.unguarded'
  | 'guarding.inhibited'
  | 'shuttingDown.ending'
  | 'shuttingDown.telling'
  | 'shutDown';

/** What reaches the machine. `at`: ms since the epoch, its only clock. */
export type ShutdownMessage =
  | { type: 'shutdown.start'; at: number; settings: ShutdownSettings }
  /** logind answers. `preparing`: the pods that hold something, when a shutdown is under way already; null when none is. */
  | { type: 'shutdown.connected'; at: number; delayMs: number; preparing: ShutdownPod[] | null }
  /** logind was told to allow more; `delayMs`: what it allows now. */
  | { type: 'shutdown.raised'; at: number; delayMs: number }
  | { type: 'shutdown.locked'; at: number }
  /** What was asked for cannot be had. */
  | { type: 'shutdown.failed'; at: number; what: 'connect' | 'raise' | 'lock'; error: string }
  /** The connection, or the lock, is gone without having been given back. */
  | { type: 'shutdown.lost'; at: number; what: 'connection' | 'lock'; why: string }
  /** PrepareForShutdown(true); `pods`: those that hold something of the node. */
  | { type: 'shutdown.prepare'; at: number; pods: ShutdownPod[] }
  /** PrepareForShutdown(false). */
  | { type: 'shutdown.cancel'; at: number }
  /** All containers of a pod have ended. */
  | { type: 'shutdown.ended'; at: number; uid: string }
  /** Nothing of it is left that others could stumble over: volumes, cgroup. */
  | { type: 'shutdown.cleaned'; at: number; uid: string }
  /** The API server knows how all these pods ended. */
  | { type: 'shutdown.told'; at: number }
  /** `deadline` has come. */
  | { type: 'timer'; at: number };

/** What the machine has its host do. */
export type ShutdownOrder =
  /** Whether the node is ready changed. */
  | { type: 'status.post' }
  /** An event about the node. */
  | { type: 'node.event'; message: string }
  /** Connect to logind and listen. */
  | { type: 'logind.connect' }
  /** Have logind hold a shutdown up for so long at most. */
  | { type: 'logind.raise'; delayMs: number }
  | { type: 'lock.take' }
  | { type: 'lock.release' }
  /** End a pod, as Failed. */
  | { type: 'pod.end'; uid: string; namespace: string; name: string; graceSeconds: number }
  /** A pod has not ended in time. */
  | { type: 'pod.late'; uid: string; namespace: string; name: string }
  /** Say when the API server knows how these pods ended. */
  | { type: 'statuses.await'; uids: string[] }
  /** Keep the times of the shutdown; `endedAt`: null before its end. */
  | { type: 'times.keep'; startedAt: number; endedAt: number | null }
  /** A line for the log. */
  | { type: 'log'; level: 'info' | 'error'; text: string; about: Record<string, string> };

/** The context before anything happened. */
export function initialShutdown(): ShutdownContext {
  return {
    settings: { groups: [], keepsTimes: false },
    link: { state: 'down', delayMs: null, failures: 0, problem: '', retryAt: null },
    lock: 'none',
    run: null,
    deadline: null,
    focus: 'idle',
  };
}

/** A shutdown is under way, or the machine is about to go down: the node is not ready and takes no pods. */
export function isShuttingDown({ focus }: Pick<ShutdownContext, 'focus'>): boolean {
  return focus === 'shutDown' || focus.startsWith('shuttingDown.');
}
