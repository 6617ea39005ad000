import { entryOf } from '../values/entry-of.ts';
import { statePath } from '../machine-step/step.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { PodContext } from './pod-context.ts';
import { newestOf } from './observation.ts';
import type { SpecContainer } from './spec.ts';

/**
 * The container was started, and its postStart hook has not ended yet (or has failed, and it is being stopped for that): nobody
 * is told that it runs (Container Lifecycle Hooks: "not set to RUNNING until the postStart handler completes").
 */
export function isInHook({ containers, settings }: PodContext, name: string): boolean {
  const place = entryOf(containers, name);
  if (place === undefined || !behaves(settings, 'runsAfterItsHook')) return false;
  const value = statePath(place.value);
  return (
    value === 'starting.postStart' || (value.startsWith('stopping.') && place.context.kill?.reason === 'postStartHook')
  );
}

/** The container was started by an own call, and the look that follows has not answered yet: nobody is told that it runs. */
export function isUnseen({ observed }: PodContext, name: string): boolean {
  const seen = newestOf(observed, name);
  return seen?.state === 'running' && seen.unseen === true;
}

/** The container runs, its postStart hook has ended, and its startup probe (if any) has succeeded: `containerStatuses[].started`. */
export function startedOf(context: PodContext, { container }: SpecContainer): boolean {
  const seen = newestOf(context.observed, container.name);
  if (seen?.state !== 'running') return false;
  const value = context.containers[container.name]?.value;
  if (typeof value === 'object') {
    if (value !== null && 'starting' in value) return false;
    if (behaves(context.settings, 'failedHookIsNoStart') && isInHook(context, container.name)) return false;
  } else if (value !== 'running') return false;
  if (container.startupProbe === undefined) return true;
  const probe = context.probes[`${container.name}/startup`]?.context;
  return probe !== undefined && probe.containerId === seen.id && probe.result === 'success';
}

/** `containerStatuses[].ready`: started, and the readiness probe (if any) says so. A finished init container is ready when it succeeded. */
export function readyOf(context: PodContext, owner: SpecContainer): boolean {
  const { container, kind } = owner;
  const seen = newestOf(context.observed, container.name);
  if (kind === 'init') return seen?.state === 'exited' && seen.exitCode === 0;
  if (kind === 'ephemeral' || !startedOf(context, owner)) return false;
  if (container.readinessProbe === undefined) return true;
  const probe = context.probes[`${container.name}/readiness`]?.context;
  return probe !== undefined && probe.containerId === seen?.id && probe.result === 'success';
}
