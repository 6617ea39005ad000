import type { PodContext, Task } from '../pod/pod-context.ts';
import { newestOf } from '../pod/observation.ts';
import { specContainers } from '../pod/spec.ts';
import type { SpecContainer } from '../pod/spec.ts';
import { statePath } from '../machine-step/step.ts';
import type { VolumeWait } from '../volume-manager/volume-words.ts';
import type { EvictionEvidence } from './eviction-reasons.ts';
import type { Cause, CauseKind, NextStep } from './explanation.ts';
import type { NodePlace } from './node-reasons.ts';
import type { Failure, PodHistory } from './pod-history.ts';
import { failed, maskOf, short } from './words.ts';

/** What an explanation is made from. */
export interface ExplainInput {
  /** The pod machine's context at that moment. */
  context: PodContext;
  history: PodHistory;
  /** ms since the epoch. */
  now: number;
  /** Where its spec was read from: path of the manifest or URL, '' when not known. */
  place?: string;
  /** The node at that moment, when its log says. */
  node?: NodePlace;
  /** Why the node evicted the pod, when its log says. */
  evicted?: EvictionEvidence;
  /** What volumes of it wait for that the main thread sets up, when its log says. */
  volumeWaits?: readonly VolumeWait[];
}

/** What the explainers look at. */
export interface View {
  context: PodContext;
  history: PodHistory;
  now: number;
  /** Replaces environment values in texts that others wrote. */
  mask: (text: string) => string;
  specs: readonly SpecContainer[];
  node?: NodePlace;
  evicted?: EvictionEvidence;
  volumeWaits?: readonly VolumeWait[];
}

/** What one state comes to. */
export interface Reason {
  /** From the nearest to the farthest. The first is the summary's. */
  causes: Cause[];
  next?: NextStep;
}

/** Prepares an input for the explainers. */
export function viewOf({ context, history, now, node, evicted }: ExplainInput): View {
  const view = { context, history, now, mask: maskOf(context.pod), specs: specContainers(context.pod) };
  return { ...view, ...(node && { node }), ...(evicted && { evicted }) };
}

/** State of a container machine, '' when there is none. */
export function containerState(view: View, name: string): string {
  return statePath(view.context.containers[name]?.value);
}

/** Since when a container, probe or volume machine is in its state. */
export function machineSince(view: View, key: string): number {
  return view.history.machines[key]?.at ?? 0;
}

/** Failures in a row of a group of {@link PodHistory.failures}. */
export function failureOf(view: View, group: string): Failure | undefined {
  return view.history.failures[group];
}

/** `<what> failed 3 times (...)`, masked. */
export function failedText(view: View, what: string, failure: Pick<Failure, 'count' | 'message'>): string {
  return view.mask(`${what} ${failed(failure)}`);
}

/** A task of the pod that has to be done first; null when it is done. */
export function taskReason(view: View, name: string, what: string, kind: CauseKind): Reason | null {
  const task: Task | undefined = view.context.tasks[name];
  if (task?.state === 'done') return null;
  const wanted = view.history.tasks[name] ?? view.history.state.at;
  if (task === undefined) return { causes: [{ at: wanted, text: `${what} has not begun yet`, kind }] };
  const failure = failureOf(view, `task/${name}`);
  const count = Math.max(task.failures, failure?.count ?? 0);
  if (task.state === 'running') {
    const text =
      count === 0
        ? `${what} is under way`
        : `${what} is tried again; it ${failed({ count, message: messageOf(task) })}`;
    return { causes: [{ at: wanted, text: view.mask(text), kind }] };
  }
  const text = failedText(view, what, { count: Math.max(1, count), message: messageOf(task) });
  const at = failure?.lastAt ?? wanted;
  if (task.retryAt === Number.MAX_SAFE_INTEGER)
    return {
      causes: [{ at, text: `${text}; the spec is at fault: it is not tried again until the spec changes`, kind }],
    };
  return { causes: [{ at, text, kind }], next: { at: task.retryAt, what: 'next try, triggered by timer' } };
}

function messageOf(task: Task): string {
  return task.error?.message ?? '';
}

/** `ended with exit code 1 (Error) at T, after so many restarts`; what it last said is left out. */
export function endText(view: View, name: string): { at: number; text: string } | null {
  const seen = newestOf(view.context.observed, name);
  if (seen === null || seen.state === 'running') return null;
  if (seen.state === 'created') return { at: seen.createdAt, text: `${name} was made and never started` };
  if (seen.state === 'unknown') return { at: 0, text: `the runtime does not know how ${name} stands` };
  const reason = seen.reason === '' || seen.reason === 'Error' ? '' : ` (${seen.reason})`;
  const restarts =
    seen.restartCount === 0 ? '' : `, after ${seen.restartCount} restart${seen.restartCount === 1 ? '' : 's'}`;
  return { at: seen.finishedAt, text: `${name} ended with exit code ${seen.exitCode}${reason}${restarts}` };
}

/** A container's `waiting` reason and message, masked and short. */
export function waitingText(view: View, name: string): string {
  const waiting = view.context.containers[name]?.context.waiting;
  return waiting == null
    ? ''
    : short(view.mask(`${waiting.reason}${waiting.message === '' ? '' : `: ${waiting.message}`}`));
}
