import type { Pod } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import { statePath } from '../machine-step/step.ts';
import { imageVolumeWaiting } from './awaited-images.ts';
import { leftOver } from './left-over.ts';
import { newestOf } from './observation.ts';
import type { PodContext } from './pod-context.ts';
import type { SpecContainer } from './spec.ts';
import { containersOf } from './spec.ts';

/**
 * The container before `owner`, in the order of the spec, whose start is not over: it is being made, its postStart hook
 * is under way, or it is being stopped because the hook failed. `owner` is not made before that (kubelet `SyncPod` starts
 * sidecars, then regular containers one after the other, and `startContainer` ends with the hook; what asks for a proxy to
 * be ready first relies on it). Undefined when nothing is in the way.
 *
 * What waits itself (crash-loop back-off, image back-off, a pause after a failed start) holds up nobody: kubelet goes on
 * with the next. Containers without a hook hold up nobody either: of two whose processes start within the same moment
 * nobody can tell which one came first, and kubelet promises no order between them.
 */
export function awaitedStart(context: PodContext, owner: SpecContainer): string | undefined {
  if (!behaves(context.settings, 'startsAfterHooks')) return undefined;
  for (const name of hooksBefore(context.pod, owner.container.name)) if (isStarting(context, name)) return name;
  return undefined;
}

/**
 * A container with a postStart hook is not started again before those behind it that were held up have had their turn:
 * a hook that fails time after time would hold them up for ever (kubelet: a restart is of the next `SyncPod`).
 */
export function letsOthersFirst(context: PodContext, name: string): boolean {
  if (!behaves(context.settings, 'startsAfterHooks')) return false;
  // One that was never made has its turn first.
  if ((context.containers[name]?.context.id ?? '') === '') return false;
  const inOrder = hooksInOrder(context.pod);
  const place = inOrder.findIndex(({ container }) => container.name === name);
  if (place < 0 || inOrder[place]?.container.lifecycle?.postStart === undefined) return false;
  return inOrder.slice(place + 1).some(({ container }) => isBeingMade(context, container.name));
}

/** Its image is there, and nothing but the order of starts holds it up. */
function isBeingMade(context: PodContext, name: string): boolean {
  const value = statePath(context.containers[name]?.value ?? '');
  return value === 'starting.awaitingPod' ? imageVolumeWaiting(context, name) === null : MADE_IN.has(value);
}

const MADE_IN = new Set(['starting.preparing', 'starting.creating', 'starting.started', 'starting.postStart']);

const HOOKS = new WeakMap<Pod, readonly SpecContainer[]>();

/** Init containers and regular ones in order when one of them has a postStart hook, otherwise none: most pods have none. Ephemeral ones have no hooks, and wait for none. */
function hooksInOrder(pod: Pod): readonly SpecContainer[] {
  let hooks = HOOKS.get(pod);
  if (hooks === undefined) {
    const inOrder = [...containersOf(pod, 'before'), ...containersOf(pod, 'regular')];
    hooks = inOrder.some(({ container }) => container.lifecycle?.postStart !== undefined) ? inOrder : [];
    HOOKS.set(pod, hooks);
  }
  return hooks;
}

/** Names of the containers with a postStart hook that come before `name`. */
function hooksBefore(pod: Pod, name: string): readonly string[] {
  const inOrder = hooksInOrder(pod);
  const place = inOrder.findIndex(({ container }) => container.name === name);
  if (place <= 0) return [];
  return inOrder
    .slice(0, place)
    .filter(({ container }) => container.lifecycle?.postStart !== undefined)
    .map(({ container }) => container.name);
}

/** On its way to having run its hook: what an earlier agent left half made, or a state of the runtime's that is not known, is cleared away for that. */
function isStarting(context: PodContext, name: string): boolean {
  const value = statePath(context.containers[name]?.value ?? '');
  if (value.startsWith('stopping.')) return true;
  if (value.startsWith('starting.'))
    return value !== 'starting.imageBackOff' && imageVolumeWaiting(context, name) === null;
  const seen = newestOf(context.observed, name);
  return leftOver(context, seen) || context.tasks[`container.stop/${seen?.id ?? ''}`]?.state === 'running';
}
