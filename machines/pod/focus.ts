import type { Focused, PodContext, PodFocus } from './pod-context.ts';
import { behaves } from '../protocol/behaviour.ts';
import { newestOf } from './observation.ts';
import { containerPullWords } from './pull-turns.ts';
import { readyOf, startedOf } from './readiness.ts';
import { specContainers } from './spec.ts';
import { statePath } from '../machine-step/step.ts';

/** State of a container machine -> what the pod waits for because of it; the first hit in this order names the pod's state. */
const BY_CONTAINER: readonly (readonly [state: string, focus: PodFocus])[] = [
  ['stopping', 'syncing.stoppingContainers'],
  ['starting.imageBackOff', 'syncing.imageBackOff'],
  ['backingOff', 'syncing.crashLoopBackOff'],
  ['retrying', 'syncing.retryingStart'],
  ['inDoubt', 'syncing.retryingStart'],
  ['starting.pullingImage', 'syncing.pullingImage'],
  ['starting', 'syncing.startingContainers'],
];

/** Names what a pod with a ready sandbox waits for. */
export function syncingFocus(context: PodContext, initialized: boolean): Focused {
  const specs = specContainers(context.pod).map((owner) => ({
    owner,
    state: statePath(context.containers[owner.container.name]?.value ?? ''),
  }));
  for (const [state, focus] of BY_CONTAINER) {
    const hit = specs.find((s) => s.state === state || s.state.startsWith(`${state}.`));
    if (hit === undefined) continue;
    const { name } = hit.owner.container;
    const waiting = context.containers[name]?.context.waiting;
    if (focus === 'syncing.pullingImage' && behaves(context.settings, 'pullsAreShared'))
      return { focus, why: containerPullWords(context, name) };
    const initializing = focus === 'syncing.startingContainers' && (hit.owner.kind === 'init' || !initialized);
    return {
      focus: initializing ? 'syncing.initializing' : focus,
      why: waiting ? `${name}: ${waiting.reason}: ${waiting.message}` : `${name}: ${hit.state}`,
    };
  }
  if (!initialized) {
    const current = specs.find(
      (s) => s.owner.kind === 'init' && newestOf(context.observed, s.owner.container.name)?.state === 'running',
    );
    return {
      focus: 'syncing.initializing',
      why: current === undefined ? '' : `init container ${current.owner.container.name} runs`,
    };
  }
  const serving = specs.filter((s) => s.owner.kind === 'regular' || s.owner.kind === 'sidecar');
  const unstarted = serving
    .filter((s) => s.state === 'running' && !startedOf(context, s.owner))
    .map((s) => s.owner.container.name);
  if (unstarted.length > 0) return { focus: 'syncing.waitingForStartupProbe', why: unstarted.join(', ') };
  const unready = serving
    .filter((s) => s.state === 'running' && !readyOf(context, s.owner))
    .map((s) => s.owner.container.name);
  if (unready.length > 0) return { focus: 'syncing.waitingForReadiness', why: unready.join(', ') };
  return { focus: 'syncing.running', why: '' };
}
