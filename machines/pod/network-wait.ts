import { behaves } from '../protocol/behaviour.ts';
import type { Draft } from './draft.ts';
import { forgetTasks, own, podEvent, taskOf } from './draft.ts';

/** Name of the task that stands for the pause until the event is told again. */
const TASK = 'network';
/** Kubelet tries again a second to one and a half later (`backOffOnTransientErrorPeriod`), and looks each second at who is due. */
const AGAIN_MS = 2_000;
/** So many events of one object are told one after the other, and one in five minutes after that: more would be left out anyway. */
const BURST = 25;
const PATIENT_MS = 300_000;

/** The pod waits for the runtime's network: kubelet says so each time that it tries. */
export function tellNoNetwork(draft: Draft): void {
  const { context, at } = draft;
  const problem = context.networkProblem ?? 'container runtime network not ready: NetworkReady=false';
  const message = `network is not ready: ${problem}`;
  if (!behaves(context.settings, 'noNetworkIsToldAgain')) {
    if (context.focus !== 'syncing.waitingForNetwork') podEvent(draft, 'Warning', 'NetworkNotReady', message);
    return;
  }
  const told = taskOf(draft, TASK);
  if (told !== undefined && told.retryAt > at) return;
  podEvent(draft, 'Warning', 'NetworkNotReady', message);
  const failures = (told?.failures ?? 0) + 1;
  const retryAt = at + (failures < BURST ? AGAIN_MS : PATIENT_MS);
  own(draft, 'tasks')[TASK] = { state: 'failed', key: '', failures, retryAt, error: null };
}

/** The network is there, or the pod does not wait for it. */
export function forgetNoNetwork(draft: Draft): void {
  forgetTasks(draft, TASK);
}

/** Takes in what the runtime says of itself, or the node of the runtime. */
export function takeRuntimeState(
  { context }: Draft,
  {
    runtimeReady,
    networkReady,
    networkProblem,
  }: { runtimeReady: boolean; networkReady: boolean; networkProblem?: string },
): void {
  context.runtimeReady = runtimeReady;
  context.networkReady = networkReady;
  if (networkProblem === undefined) delete context.networkProblem;
  else context.networkProblem = networkProblem;
}
