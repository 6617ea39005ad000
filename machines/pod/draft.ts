import type { Effect } from '../protocol/effects.ts';
import type { PodContext, Task } from './pod-context.ts';

/** The maps of a pod's context, which a step changes through {@link own} only. */
type OwnedMap = 'containers' | 'probes' | 'volumes' | 'tasks' | 'fresh' | 'messages';

/**
 * The working copy of one step: a map is copied when the step first changes it ({@link own}), so that the snapshot before
 * it stays as it was. Values inside the maps are replaced, never changed in place.
 */
export interface Draft {
  at: number;
  /** The context that the step began with. */
  readonly before: PodContext;
  context: PodContext;
  effects: Effect[];
}

/** Opens a step. */
export function openDraft(context: PodContext, at: number): Draft {
  return {
    at,
    before: context,
    context: { ...context },
    effects: [],
  };
}

/** A map of the context to write to: the step's own copy. */
export function own<K extends OwnedMap>(draft: Draft, map: K): PodContext[K] {
  const { context, before } = draft;
  if (context[map] === before[map]) context[map] = { ...before[map] };
  return context[map];
}

/** First and longest pause of a task that failed, ms. */
export interface Patience {
  firstMs: number;
  longestMs: number;
}

const PATIENCE: Patience = { firstMs: 1_000, longestMs: 60_000 };

/**
 * Wants the task `name` done. Starts it when it was never started, or failed and its pause is over.
 * Returns true once it is done.
 */
export function want(draft: Draft, name: string, make: (key: string) => Effect): boolean {
  const { tasks } = draft.context;
  const task = tasks[name];
  if (task?.state === 'done') return true;
  if (task?.state === 'running') return false;
  if (task?.state === 'failed' && draft.at < task.retryAt) return false;
  const seq = draft.context.seq + 1;
  const key = `task/${name}/${seq}`;
  draft.context.seq = seq;
  own(draft, 'tasks')[name] = {
    state: 'running',
    key,
    failures: task?.failures ?? 0,
    retryAt: 0,
    error: task?.error ?? null,
  };
  draft.effects.push(make(key));
  return false;
}

/** Name of the task that an effect's key belongs to, or null. */
export function taskNameOf(key: string): string | null {
  return key.startsWith('task/') ? key.slice(5, key.lastIndexOf('/')) : null;
}

/** Notes that the task has ended well. */
export function taskDone(draft: Draft, name: string): void {
  const task = draft.context.tasks[name];
  if (task !== undefined) own(draft, 'tasks')[name] = { ...task, state: 'done', failures: 0, error: null, retryAt: 0 };
}

/** The first half of the task is done: its next effect is due, and its failures go on counting. */
export function taskGoesOn(draft: Draft, name: string): void {
  const task = draft.context.tasks[name];
  if (task !== undefined) own(draft, 'tasks')[name] = { ...task, state: 'failed', retryAt: draft.at };
}

/** Notes a failure and when to try again (pause doubles). */
export function taskFailed(
  draft: Draft,
  name: string,
  error: { code: string; message: string },
  patience: Patience = PATIENCE,
): void {
  const task = draft.context.tasks[name];
  if (task === undefined) return;
  const pause = Math.min(patience.firstMs * 2 ** task.failures, patience.longestMs);
  own(draft, 'tasks')[name] = {
    ...task,
    state: 'failed',
    failures: task.failures + 1,
    error,
    retryAt: draft.at + pause,
  };
}

/** Forgets tasks, so that they can be wanted anew. */
export function forgetTasks(draft: Draft, ...names: string[]): void {
  for (const name of names) if (draft.context.tasks[name] !== undefined) delete own(draft, 'tasks')[name];
}

/** The task as it stands. */
export function taskOf(draft: Draft, name: string): Task | undefined {
  return draft.context.tasks[name];
}

/** One-way effect: an event about the pod itself. */
export function podEvent(draft: Draft, type: 'Normal' | 'Warning', reason: string, message: string): void {
  draft.effects.push({ type: 'event.Record', key: '', params: { type, reason, message } });
}
