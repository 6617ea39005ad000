import { graceEnd } from '../values/grace-end.ts';
import { statePath } from '../machine-step/step.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { TerminationOrder } from '../protocol/messages.ts';
import { claimsGivenBack } from './claims.ts';
import { tellContainer } from './children.ts';
import type { Draft } from './draft.ts';
import { want } from './draft.ts';
import type { NextState } from './pod-context.ts';
import { newestOf } from './observation.ts';
import { graceSecondsOf } from './grace.ts';
import type { SpecContainer } from './spec.ts';
import { specContainers } from './spec.ts';

/** Reasons by which a source, not the pod itself, ends it: afterwards nothing of it is kept. */
const GIVEN_UP = new Set(['Deleted', 'Removed', 'Orphaned']);

/**
 * A pod that is deleted in the API keeps its containers until the object is gone: until then an agent that
 * restarts must still find out how they ended.
 */
function givenUp(draft: Draft, reason: string): boolean {
  return GIVEN_UP.has(reason) && !(reason === 'Deleted' && draft.context.source === 'api');
}

/**
 * Begins to terminate the pod, or shortens the grace period of a termination under way. It is never taken
 * back and never lengthened.
 */
export function beginTermination(draft: Draft, order: TerminationOrder, phase: 'Failed' | null): void {
  const { context } = draft;
  const own = context.pod.metadata?.deletionGracePeriodSeconds ?? context.pod.spec?.terminationGracePeriodSeconds ?? 30;
  // Whoever ends it, a pod gets a second (kubelet calculateEffectiveGracePeriod), so that its preStop hooks begin.
  const least = behaves(context.settings, 'hooksGoOnToTheEnd') ? 1 : 0;
  const wanted = Math.max(least, order.gracePeriodSeconds ?? own);
  const before = context.termination;
  if (before === null) {
    context.termination = {
      reason: order.reason,
      message: order.message,
      since: draft.at,
      graceSeconds: wanted,
      deletedFromSource: givenUp(draft, order.reason),
      phase,
      ...(order.disruption === true && { disruption: true }),
      ...(order.rejected && { rejected: true }),
      ...(order.comesBack === true && { comesBack: true }),
    };
    return;
  }
  const left = Math.max(0, graceEnd(before) - draft.at) / 1000;
  const asked = order.gracePeriodSeconds === undefined ? left : Math.max(least, order.gracePeriodSeconds);
  const shorter = asked < left;
  const { comesBack: _before, ...rest } = before;
  // Kubelet's last word on the status counts, if the pod has not come to its end by itself.
  const told = phase !== null && before.phase === null && behaves(context.settings, 'evictedWhileDeleted');
  context.termination = {
    ...rest,
    ...(told && { reason: order.reason, message: order.message, phase }),
    ...(told && order.disruption === true && { disruption: true as const }),
    ...(order.comesBack === true && { comesBack: true }),
    deletedFromSource: before.deletedFromSource || givenUp(draft, order.reason),
    graceSeconds: shorter ? (draft.at - before.since) / 1000 + asked : before.graceSeconds,
  };
  if (shorter) orderKills(draft, asked, true);
}

/** Is a container's machine in this state, whichever of those within it? */
function isIn(value: unknown, state: 'starting' | 'stopping'): boolean {
  return typeof value === 'object' && value !== null && state in value;
}

/** Rounding of times in seconds, ms. */
const ROUNDING_MS = 500;

/**
 * Tells every living container to stop; sidecars hear it too, but wait for their turn (KEP-753). One that is stopped
 * already, for another reason, hears it when that gave it more time than the pod has.
 */
function orderKills(draft: Draft, graceSeconds: number, again: boolean): void {
  const { context } = draft;
  for (const { container, kind } of specContainers(context.pod)) {
    const child = context.containers[container.name];
    if (child === undefined) continue;
    const { value } = child;
    const stopping = isIn(value, 'stopping');
    const { kill } = child.context;
    const tooLong =
      kill !== null &&
      !(kill.reason === 'podTermination' && behaves(context.settings, 'hooksGoOnToTheEnd')) &&
      graceEnd(kill) > draft.at + graceSeconds * 1000 + ROUNDING_MS;
    if (!(value === 'running' || isIn(value, 'starting') || (stopping && (again || tooLong)))) continue;
    tellContainer(draft, container.name, {
      type: 'kill',
      order: {
        reason: 'podTermination',
        message: `Stopping container ${container.name}`,
        graceSeconds,
        since: draft.at,
        waitTurn: kind === 'sidecar',
      },
    });
  }
}

/** One look at a pod that must end (kubelet SyncTerminatingPod): containers, then sandboxes, then claims. Null when all is done. */
export function planTerminating(draft: Draft): NextState | null {
  const { context } = draft;
  const termination = context.termination;
  if (termination === null) return null;
  const left = Math.max(0, graceEnd(termination) - draft.at) / 1000;
  orderKills(draft, left, false);
  giveTurns(draft);
  const names = specContainers(context.pod).map((c) => c.container.name);
  stopStrangers(draft);
  const running = (context.observed?.containers ?? []).filter((c) => c.state === 'running');
  const stopping = names.filter((name) => isIn(context.containers[name]?.value, 'stopping'));
  if (running.length > 0 || stopping.length > 0) {
    const hooks = names.filter((name) => statePath(context.containers[name]?.value) === 'stopping.preStop');
    if (hooks.length > 0) return { state: 'terminating.runningPreStop', why: `preStop hook of ${hooks.join(', ')}` };
    return {
      state: 'terminating.stoppingContainers',
      why: `grace period of ${termination.graceSeconds} s for ${[...new Set(running.map((c) => c.name))].join(', ')}`,
    };
  }
  let stopped = context.tasks['sandbox.run']?.state !== 'running';
  for (const sandbox of context.observed?.sandboxes ?? []) {
    if (sandbox.state === 'notReady' && !behaves(context.settings, 'deadSandboxesAreStopped')) continue;
    // One that died, as all do with a boot, still has its address until it is stopped; kubelet's killPod stops those, too.
    if (
      !want(draft, `sandbox.stop/${sandbox.id}`, (key) => ({
        type: 'cri.StopPodSandbox',
        key,
        params: { podSandboxId: sandbox.id },
      }))
    )
      stopped = false;
  }
  if (!stopped) return { state: 'terminating.stoppingSandbox', why: 'the runtime takes down network and sandbox' };
  if (claimsGivenBack(draft)) return null;
  return { state: 'terminating.unpreparingClaims', why: context.tasks['claims.back']?.error?.message ?? '' };
}

/** Running containers that the spec does not name (an older spec's) are stopped as well. */
export function stopStrangers(draft: Draft): void {
  const names = specContainers(draft.context.pod).map((c) => c.container.name);
  for (const c of draft.context.observed?.containers ?? []) {
    const value = draft.context.containers[c.name]?.value;
    const hosted =
      names.includes(c.name) &&
      newestOf(draft.context.observed, c.name)?.id === c.id &&
      value !== undefined &&
      value !== 'exited';
    if (c.state !== 'running' || hosted) continue;
    const timeoutSeconds = Math.max(2, Math.ceil(graceSecondsOf(draft.context)));
    want(draft, `container.stop/${c.id}`, (key) => ({
      type: 'cri.StopContainer',
      key,
      params: { containerId: c.id, timeoutSeconds },
    }));
  }
}

/** A sidecar's turn comes when all regular containers and all later sidecars have ended. */
function giveTurns(draft: Draft): void {
  const { context } = draft;
  const specs = specContainers(context.pod);
  const over = (name: string) => {
    const value = context.containers[name]?.value;
    return newestOf(context.observed, name)?.state !== 'running' && (typeof value !== 'object' || value === null);
  };
  // Kubelet lets them wait for the containers of `spec.containers` only: not for an init container that runs beside them.
  const waitsFor = (kind: SpecContainer['kind']) =>
    behaves(context.settings, 'hooksGoOnToTheEnd') ? kind === 'regular' : kind !== 'sidecar';
  if (!specs.filter((c) => waitsFor(c.kind)).every((c) => over(c.container.name))) return;
  const sidecars = specs.filter((c) => c.kind === 'sidecar').reverse();
  for (const { container } of sidecars) {
    if (over(container.name)) continue;
    tellContainer(draft, container.name, { type: 'turn' });
    return;
  }
}
