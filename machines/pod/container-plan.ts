import { containerHash } from '../container-config/container-hash.ts';
import type { KillReason } from '../container/container-context.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { ObservedContainer } from '../protocol/observed.ts';
import { leftOver, takesUp } from './left-over.ts';
import { statePath } from '../machine-step/step.ts';
import { newestOf } from './observation.ts';
import type { PodContext } from './pod-context.ts';
import { startedOf } from './readiness.ts';
import { restartsForResize } from './resize.ts';
import { isRestarting } from './start-again.ts';
import { restartsOnFailure, shouldRestart } from './spec.ts';
import type { SpecContainer } from './spec.ts';
import { containersOf } from './spec.ts';

/** What a pod's containers need now (kubelet's podActions, without the sandbox). */
export interface ContainerPlan {
  start: string[];
  /** `restart`: it is stopped so that it starts again, however it ends. */
  kill: { name: string; message: string; reason: KillReason; restart: boolean }[];
  /** Nothing is left to run: the pod is at its end. */
  killPod: boolean;
  /** With {@link killPod}: a new sandbox follows, in which all begins anew. */
  newSandbox?: true;
  /** All init containers have done their part. */
  initialized: boolean;
}

/** A container machine is on its way (up or down): leave it alone. */
function busy(context: PodContext, name: string): boolean {
  const value = context.containers[name]?.value;
  return typeof value === 'object' && value !== null;
}

function probeFailed(context: PodContext, name: string, kind: 'liveness' | 'startup', id: string): boolean {
  const probe = context.probes[`${name}/${kind}`]?.context;
  return probe !== undefined && probe.containerId === id && probe.result === 'failure';
}

/** Init containers count only in the sandbox that serves: a new sandbox starts them from the first. */
function seenOf(context: PodContext, owner: SpecContainer, sandboxId: string): ObservedContainer | null {
  const seen = newestOf(context.observed, owner.container.name);
  if (seen === null || owner.kind === 'regular' || owner.kind === 'ephemeral') return seen;
  return seen.sandboxId === sandboxId ? seen : null;
}

/** A running container that must be stopped, and why; null when it may go on. */
function reasonToKill(
  context: PodContext,
  owner: SpecContainer,
  seen: ObservedContainer,
): { message: string; reason: KillReason; restart: boolean } | null {
  const { container, kind } = owner;
  const word = kind === 'regular' ? 'Container' : 'Init container';
  const policy = container.restartPolicy ?? context.pod.spec?.restartPolicy ?? 'Always';
  const restart = policy !== 'Never';
  if (seen.hash !== '' && seen.hash !== containerHash(container)) {
    return { message: `${word} ${container.name} definition changed`, reason: 'definitionChanged', restart: true };
  }
  if (probeFailed(context, container.name, 'liveness', seen.id)) {
    return { message: `${word} ${container.name} failed liveness probe`, reason: 'liveness', restart };
  }
  if (probeFailed(context, container.name, 'startup', seen.id)) {
    return { message: `${word} ${container.name} failed startup probe`, reason: 'startup', restart };
  }
  if (restartsForResize(context, container)) {
    return { message: `Container ${container.name} resize requires restart`, reason: 'resize', restart: false };
  }
  return null;
}

/** Decides what to start and stop in the sandbox that serves; `sandboxId` is '' while a new one is being made. */
export function planContainers(context: PodContext, sandboxId: string): ContainerPlan {
  const plan: ContainerPlan = { start: [], kill: [], killPod: false, initialized: false };
  const regular = containersOf(context.pod, 'regular');
  if (workDone(context, regular)) return { ...plan, killPod: true, initialized: true };
  if (lastOnesStop(context, regular)) return { ...plan, initialized: true };
  for (const { container } of containersOf(context.pod, 'ephemeral')) {
    const seen = newestOf(context.observed, container.name);
    if ((seen === null || takesUp(context, seen)) && !busy(context, container.name)) plan.start.push(container.name);
  }
  plan.initialized = planInit(context, containersOf(context.pod, 'before'), plan, sandboxId);
  if (plan.killPod || !plan.initialized) return plan;
  planRegular(context, regular, plan);
  return plan;
}

/** The init sequence: looked at from the last to the first, since finished ones may have been removed meanwhile. */
function planInit(
  context: PodContext,
  inits: readonly SpecContainer[],
  plan: ContainerPlan,
  sandboxId: string,
): boolean {
  if (inits.length === 0) return true;
  const regular = containersOf(context.pod, 'regular');
  const alive = (seen: ObservedContainer | null) =>
    seen !== null && seen.sandboxId === sandboxId && (seen.state === 'running' || seen.state === 'created');
  let initialized = regular.some(
    (c) => alive(newestOf(context.observed, c.container.name)) || busyStarting(context, c.container.name),
  );
  let later = initialized;
  for (let i = inits.length - 1; i >= 0; i--) {
    const owner = inits[i];
    if (owner === undefined) continue;
    const { container, kind } = owner;
    const { name } = container;
    const seen = seenOf(context, owner, sandboxId);
    if (busy(context, name)) {
      if (!later) {
        // A sidecar counts as started once it runs and its startup probe is through; until then it is waited for.
        later = true;
        if (kind === 'sidecar' && startedOf(context, owner)) initialized = next(context, inits, i, plan);
      }
      continue;
    }
    if (leftOver(context, seen)) {
      later = true;
      continue;
    }
    if (seen === null) {
      if (later && kind === 'sidecar') plan.start.push(name);
      continue;
    }
    if (later && kind !== 'sidecar') continue;
    const first = !later;
    later = true;
    if (seen.state === 'running') {
      if (kind !== 'sidecar') continue;
      const kill = reasonToKill(context, owner, seen);
      if (kill !== null) plan.kill.push({ name, message: kill.message, reason: kill.reason, restart: true });
      else if (first && startedOf(context, owner)) initialized = next(context, inits, i, plan);
      continue;
    }
    if (kind === 'init' && hasSucceeded(context, seen)) {
      initialized = next(context, inits, i, plan);
      continue;
    }
    const lost =
      seen.state === 'unknown' &&
      kind === 'init' &&
      (container.restartPolicy ?? context.pod.spec?.restartPolicy) === 'Never';
    if (
      !lost &&
      (kind === 'sidecar' || seen.state !== 'exited' || shouldRestart(context.pod, container, seen.exitCode))
    ) {
      plan.start.push(name);
      continue;
    }
    plan.killPod = true;
    // By its code it has not failed, so neither has its pod. Kubelet leaves one that is not restarted without a sandbox, and as Pending,
    // for ever: here it ends.
    if (seen.exitCode === 0 && seen.state === 'exited' && restartsOnFailure(context.pod)) plan.newSandbox = true;
    plan.start = [];
    return false;
  }
  const head = inits[0]?.container.name;
  if (!later && head !== undefined) plan.start.push(head);
  plan.start.reverse();
  return initialized;
}

/**
 * An init container has done its part. One of which something was ended for want of memory has not, whatever it ended with (kubelet
 * isInitContainerFailed): what the containers after it count on may be missing.
 */
export function hasSucceeded({ settings }: PodContext, { state, exitCode, reason }: ObservedContainer): boolean {
  const outOfMemory = reason === 'OOMKilled' && behaves(settings, 'oomKilledInitsFail');
  return state === 'exited' && exitCode === 0 && !outOfMemory;
}

/** A regular container is being made (or stopped): the init sequence is over. One that only waits for its image proves nothing. */
function busyStarting(context: PodContext, name: string): boolean {
  return /^(starting\.(creating|started|postStart)|stopping)/.test(statePath(context.containers[name]?.value));
}

/** All regular containers have ended for good: whatever sidecars do, the pod is done (kubelet ends it by its phase before it looks at containers). */
function workDone(context: PodContext, regular: readonly SpecContainer[]): boolean {
  return regular.every((owner) => hasEnded(context, owner));
}

/** It has ended, and is not started again. */
function hasEnded(context: PodContext, { container }: SpecContainer): boolean {
  const seen = newestOf(context.observed, container.name);
  return (
    seen?.state === 'exited' &&
    !busy(context, container.name) &&
    !isRestarting(context, container.name) &&
    !shouldRestart(context.pod, container, seen.exitCode)
  );
}

/**
 * The last regular containers are being stopped, for good, by a probe or hook that failed: the pod ends when they have. Until
 * then their sidecars are neither restarted nor stopped (kubelet's pod worker waits for them to stop, and ends the pod then).
 */
function lastOnesStop(context: PodContext, regular: readonly SpecContainer[]): boolean {
  if (!behaves(context.settings, 'sidecarsAreProbedToTheEnd')) return false;
  const stopping = regular.filter((owner) => !hasEnded(context, owner));
  return stopping.length > 0 && stopping.every((owner) => stopsForGood(context, owner));
}

/** Why a container is stopped that its restart policy decides about afterwards. */
const FAILED: ReadonlySet<KillReason> = new Set(['liveness', 'startup', 'postStartHook']);

function stopsForGood({ containers, pod }: PodContext, { container }: SpecContainer): boolean {
  const place = containers[container.name];
  if (place === undefined || !statePath(place.value).startsWith('stopping.')) return false;
  const policy = container.restartPolicy ?? pod.spec?.restartPolicy;
  // A rule may still restart it, by the code that it ends with.
  if (policy !== 'Never' || (container.restartPolicyRules ?? []).length > 0) return false;
  return place.context.kill !== null && FAILED.has(place.context.kill.reason);
}

/** The init container at `i` has done its part: true when it was the last, else the next one is to start. */
function next(context: PodContext, inits: readonly SpecContainer[], i: number, plan: ContainerPlan): boolean {
  const following = inits[i + 1]?.container.name;
  if (following === undefined) return true;
  if (!busy(context, following)) plan.start.push(following);
  return false;
}

function planRegular(context: PodContext, regular: readonly SpecContainer[], plan: ContainerPlan): void {
  let kept = 0;
  const before = plan.start.length;
  for (const owner of regular) {
    const { container } = owner;
    const { name } = container;
    if (busy(context, name)) {
      kept++;
      continue;
    }
    const seen = newestOf(context.observed, name);
    if (leftOver(context, seen)) {
      kept++;
      continue;
    }
    if (seen?.state === 'running') {
      const kill = reasonToKill(context, owner, seen);
      if (kill === null) kept++;
      else {
        plan.kill.push({
          name,
          message: kill.restart ? `${kill.message}, will be restarted` : kill.message,
          reason: kill.reason,
          restart: kill.restart,
        });
        kept++;
      }
      continue;
    }
    if (
      seen === null ||
      seen.state === 'created' ||
      seen.state === 'unknown' ||
      isRestarting(context, name) ||
      shouldRestart(context.pod, container, seen.exitCode)
    ) {
      plan.start.push(name);
    }
  }
  // Sidecars that could be restarted do not keep a pod alive whose regular containers are done.
  if (kept > 0 || plan.start.length > before) return;
  plan.killPod = true;
  plan.start = [];
}

/**
 * The sandbox is gone: whether a new one is worth making (kubelet computePodActions, createPodSandbox branch).
 * Not when the policy is Never and containers ran, nor when all that would run has ended well.
 */
export function worthNewSandbox(context: PodContext, attempt: number): boolean {
  const ran = context.observed?.containers ?? [];
  if (!restartsOnFailure(context.pod) && attempt !== 0 && ran.length !== 0) return false;
  const regular = containersOf(context.pod, 'regular');
  const left = regular.filter(({ container }) => {
    const policy = container.restartPolicy ?? context.pod.spec?.restartPolicy ?? 'Always';
    const seen = newestOf(context.observed, container.name);
    return !(policy === 'OnFailure' && seen?.state === 'exited' && seen.exitCode === 0);
  });
  if (left.length > 0) return true;
  return !regular.some(({ container }) => newestOf(context.observed, container.name) !== null);
}
