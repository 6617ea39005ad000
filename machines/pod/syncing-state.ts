import type { NextState, PodContext, PodStateName } from './pod-context.ts';
import { behaves } from '../protocol/behaviour.ts';
import { newestOf } from './observation.ts';
import { containerPullWords } from './pull-turns.ts';
import { readyOf, startedOf } from './readiness.ts';
import { specContainers } from './spec.ts';
import { statePath } from '../machine-step/step.ts';

/** State of a container machine -> what the pod waits for because of it; the first hit in this order is the pod's state. */
const BY_CONTAINER: readonly (readonly [containerState: string, state: PodStateName])[] = [
  ['stopping', 'syncing.stoppingContainers'],
  ['starting.imageBackOff', 'syncing.imageBackOff'],
  ['backingOff', 'syncing.crashLoopBackOff'],
  ['retrying', 'syncing.retryingStart'],
  ['inDoubt', 'syncing.retryingStart'],
  ['starting.pullingImage', 'syncing.pullingImage'],
  ['starting', 'syncing.startingContainers'],
];

/** Names what a pod with a ready sandbox waits for. */
export function syncingState(context: PodContext, initialized: boolean): NextState {
  const specs = specContainers(context.pod).map((owner) => ({
    owner,
    containerState: statePath(context.containers[owner.container.name]?.value ?? ''),
  }));
  for (const [containerState, state] of BY_CONTAINER) {
    const within = `${containerState}.`;
    const hit = specs.find((s) => s.containerState === containerState || s.containerState.startsWith(within));
    if (hit === undefined) continue;
    const { name } = hit.owner.container;
    const waiting = context.containers[name]?.context.waiting;
    if (state === 'syncing.pullingImage' && behaves(context.settings, 'pullsAreShared'))
      return { state, why: containerPullWords(context, name) };
    const initializing = state === 'syncing.startingContainers' && (hit.owner.kind === 'init' || !initialized);
    return {
      state: initializing ? 'syncing.initializing' : state,
      why: waiting ? `${name}: ${waiting.reason}: ${waiting.message}` : `${name}: ${hit.containerState}`,
    };
  }
  if (!initialized) {
    const current = specs.find(
      (s) => s.owner.kind === 'init' && newestOf(context.observed, s.owner.container.name)?.state === 'running',
    );
    return {
      state: 'syncing.initializing',
      why: current === undefined ? '' : `init container ${current.owner.container.name} runs`,
    };
  }
  const serving = specs.filter((s) => s.owner.kind === 'regular' || s.owner.kind === 'sidecar');
  const unstarted = serving
    .filter((s) => s.containerState === 'running' && !startedOf(context, s.owner))
    .map((s) => s.owner.container.name);
  if (unstarted.length > 0) return { state: 'syncing.waitingForStartupProbe', why: unstarted.join(', ') };
  const unready = serving
    .filter((s) => s.containerState === 'running' && !readyOf(context, s.owner))
    .map((s) => s.owner.container.name);
  if (unready.length > 0) return { state: 'syncing.waitingForReadiness', why: unready.join(', ') };
  return { state: 'syncing.running', why: '' };
}
