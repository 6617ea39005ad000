import { statePath } from '../machine-step/step.ts';
import type { PodContext } from '../pod/pod-context.ts';
import { taskNameOf } from '../pod/draft.ts';
import type { EffectDone, EffectFailed, PodMessage } from '../protocol/messages.ts';

/** Failures in a row of one thing that is tried again and again. */
export interface Failure {
  count: number;
  firstAt: number;
  lastAt: number;
  /** Effect type, e.g. `image.Pull`. */
  effect: string;
  /** gRPC status or errno name. */
  code: string;
  message: string;
}

/** A state and since when. */
export interface Since {
  state: string;
  at: number;
}

/**
 * What a pod's past says that its context does not: since when its states hold, and what failed how often. Bounded: it
 * grows with the pod's parts, not with its messages. Plain JSON.
 */
export interface PodHistory {
  state: Since;
  /** The first state that is known: the journal may begin in the middle. */
  fromSnapshot: boolean;
  /** States before, oldest first, at most {@link KEPT_STATES}. */
  before: Since[];
  /** `<container>`, `<container>/<kind of probe>` and `volume/<name>`. */
  machines: Record<string, Since>;
  /** By what is tried: `task/volumes`, `container/web/image.Pull`, `probe/web/liveness`. */
  failures: Record<string, Failure>;
  /** When each open task was first wanted. */
  tasks: Record<string, number>;
  startedAt: number;
  /** The last change of the pod's definition after its start; 0 = none. */
  updatedAt: number;
  runtime: { ready: boolean; at: number };
  network: { ready: boolean; at: number };
  /** Its machine has ended; 0 = it lives. */
  finishedAt: number;
  lastMessage: { type: string; at: number };
  /** Messages that the machine could not handle, and the last one's fault. */
  faults: { count: number; at: number };
}

/** How many earlier states are kept. */
const KEPT_STATES = 30;

/** The history of a pod whose machine was just born, or (`fromSnapshot`) whose place was found in a journal. */
export function bornHistory(context: PodContext, at: number, fromSnapshot: boolean): PodHistory {
  const history: PodHistory = {
    state: { state: context.focus, at },
    fromSnapshot,
    before: [],
    machines: {},
    failures: {},
    tasks: {},
    startedAt: context.startedAt || at,
    updatedAt: 0,
    runtime: { ready: context.runtimeReady, at },
    network: { ready: context.networkReady, at },
    finishedAt: context.finished ? at : 0,
    lastMessage: { type: '', at },
    faults: { count: 0, at: 0 },
  };
  noteMachines(history, context, at);
  return history;
}

/** Takes one step in: the message, and the context after it. Changes `history`. */
export function remember(history: PodHistory, message: PodMessage, context: PodContext): void {
  const { at } = message;
  history.lastMessage = { type: message.type, at };
  if (message.type === 'pod.start') history.startedAt = at;
  if (message.type === 'pod.update') history.updatedAt = at;
  if (context.focus !== history.state.state) {
    history.before = [...history.before, history.state].slice(-KEPT_STATES);
    history.state = { state: context.focus, at };
  }
  if (context.runtimeReady !== history.runtime.ready) history.runtime = { ready: context.runtimeReady, at };
  if (context.networkReady !== history.network.ready) history.network = { ready: context.networkReady, at };
  if (context.finished && history.finishedAt === 0) history.finishedAt = at;
  if (message.type === 'effect.done' || message.type === 'effect.failed') noteOutcome(history, message);
  noteMachines(history, context, at);
}

/** The machine threw on a message. */
export function rememberFault(history: PodHistory, at: number): void {
  history.faults = { count: history.faults.count + 1, at };
}

function noteMachines(history: PodHistory, context: PodContext, at: number): void {
  const note = (key: string, value: unknown) => {
    const state = statePath(value);
    if (history.machines[key]?.state !== state) history.machines[key] = { state, at };
  };
  for (const [name, place] of Object.entries(context.containers)) note(name, place.value);
  for (const [key, place] of Object.entries(context.probes)) note(key, place.value);
  for (const [name, place] of Object.entries(context.volumes)) note(`volume/${name}`, place.value);
  for (const [name, task] of Object.entries(context.tasks)) if (task.state !== 'done') history.tasks[name] ??= at;
  for (const name of Object.keys(history.tasks))
    if (context.tasks[name] === undefined || context.tasks[name].state === 'done') delete history.tasks[name];
}

function noteOutcome(history: PodHistory, outcome: EffectDone | EffectFailed): void {
  const group = groupOf(outcome);
  if (group === null) return;
  const bad = outcome.type === 'effect.failed' ? outcome.error : badResult(outcome);
  if (bad === null) {
    delete history.failures[group];
    return;
  }
  const before = history.failures[group];
  history.failures[group] = {
    count: (before?.count ?? 0) + 1,
    firstAt: before?.firstAt ?? outcome.at,
    lastAt: outcome.at,
    effect: outcome.effect,
    code: bad.code,
    message: bad.message,
  };
}

function groupOf(outcome: EffectDone | EffectFailed): string | null {
  const [owner, name, kind] = outcome.key.split('/');
  if (owner === 'task') return `task/${taskNameOf(outcome.key) ?? ''}`;
  if (owner === 'container') return `container/${name ?? ''}/${outcome.effect}`;
  if (owner === 'probe') return `probe/${name ?? ''}/${kind ?? ''}`;
  return null;
}

/** A call that was answered, but not well. What a command printed is left out: it may hold anything. */
function badResult(outcome: EffectDone): { code: string; message: string } | null {
  switch (outcome.effect) {
    case 'cri.ExecSync':
      return outcome.result.exitCode === 0
        ? null
        : { code: 'Exit', message: `the command ended with exit code ${outcome.result.exitCode}` };
    case 'net.HttpGet': {
      const { status, brokenBody } = outcome.result;
      if (brokenBody !== undefined) return { code: 'Body', message: brokenBody };
      // Of a hook every answer is good; its machine does not look at this entry.
      return status >= 200 && status < 400 ? null : { code: 'Status', message: `HTTP status ${status}` };
    }
    case 'net.GrpcHealth':
      return outcome.result.status === 'SERVING'
        ? null
        : { code: 'Status', message: `answered ${outcome.result.status}` };
    default:
      return null;
  }
}
