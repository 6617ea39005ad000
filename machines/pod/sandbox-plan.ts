import type { SandboxConfig } from '../protocol/cri-shapes.ts';
import { sandboxWithGrants } from './cpu-grants.ts';
import { sandboxConfig, sandboxConfigError } from '../sandbox-config/sandbox-config.ts';
import type { ObservedSandbox } from '../protocol/observed.ts';
import { podIPs, tellContainer } from './children.ts';
import { claimsPrepared } from './claims.ts';
import { worthNewSandbox } from './container-plan.ts';
import type { Draft } from './draft.ts';
import { forgetTasks, podEvent, taskFailed, taskOf, want, own } from './draft.ts';
import { newestSandbox } from './observation.ts';
import type { PodContext, Task } from './pod-context.ts';
import { runtimeOf } from './pod-runtime.ts';
import { restartAllOf } from './restart-all.ts';
import { tellResolverWarnings } from './resolver-warnings.ts';
import { graceSecondsOf } from './grace.ts';
import { phaseOnceGone } from '../status/phase-once-gone.ts';
import { isTerminalPhase } from '../status/phase.ts';
import { behaves } from '../protocol/behaviour.ts';
import { restartsOnFailure, usesHostNetwork } from './spec.ts';
import { stopStrangers } from './termination.ts';
import { statePath } from '../machine-step/step.ts';

/** What the sandbox needs (kubelet's PodSandboxChanged). */
export interface SandboxNeed {
  /** The sandbox that serves, null when a new one is needed. */
  ready: ObservedSandbox | null;
  /** Attempt number of a new sandbox. */
  attempt: number;
}

/** Judges the sandboxes: one ready sandbox with an address (or host network) serves; anything else calls for a new one. */
export function sandboxNeed(context: PodContext): SandboxNeed {
  const sandboxes = context.observed?.sandboxes ?? [];
  const latest = sandboxes[0];
  if (latest === undefined) return { ready: null, attempt: 0 };
  const next = { ready: null, attempt: latest.attempt + 1 };
  if (sandboxes.filter((s) => s.state === 'ready').length > 1) return next;
  if (latest.state !== 'ready') return next;
  if (latest.hostNetwork !== usesHostNetwork(context.pod)) return next;
  if (latest.unaddressed && behaves(context.settings, 'unaddressedAreReplaced')) return next;
  return { ready: latest, attempt: latest.attempt };
}

/** How a sandbox stands after a step of {@link planSandbox}; `ungrounded`: a new one waits for cgroup and volumes, `claiming`: for claims. */
export type SandboxStep = 'ready' | 'creating' | 'ungrounded' | 'claiming' | 'stoppingOld' | 'notWorth';

/**
 * Moves towards one ready sandbox: stops what belongs to an old one, then runs a new one. A sandbox that was
 * there before is only looked at for its addresses. A new one is made when what it stands on is there: `grounded`.
 */
export function planSandbox(draft: Draft, grounded: boolean): SandboxStep {
  const { context } = draft;
  const { ready, attempt } = sandboxNeed(context);
  if (ready !== null) {
    if (context.sandboxConfig === null) context.sandboxConfig = configOf(context, ready.attempt);
    if (context.tasks['sandbox.run']?.state !== 'done') {
      own(draft, 'tasks')['sandbox.run'] = { state: 'done', key: '', failures: 0, retryAt: 0, error: null };
    }
    if (ready.ips.length === 0 && !usesHostNetwork(context.pod)) {
      want(draft, `sandbox.status/${ready.id}`, (key) => ({
        type: 'cri.PodSandboxStatus',
        key,
        params: { podSandboxId: ready.id },
      }));
      return podIPs(draft).length === 0 ? 'creating' : 'ready';
    }
    return 'ready';
  }
  // While one is being made the runtime may already list it as not ready: it is neither stopped nor made twice.
  const run = taskOf(draft, 'sandbox.run')?.state;
  if (run === 'running') return 'creating';
  const lost = attempt === 0 && run === 'done' && behaves(context.settings, 'vanishedSandboxEndsStarts');
  if (lost && !startsGivenUp(draft)) return 'stoppingOld';
  if (run === 'done') forgetTasks(draft, 'sandbox.run', 'claims');
  if (attempt > 0 && !worthNewSandbox(context, attempt)) return 'notWorth';
  if (endedBefore(context) || (attempt === 0 && vanished(context))) return 'notWorth';
  if (attempt > 0 && !oldOnesStopped(draft)) return 'stoppingOld';
  if (!grounded) {
    // Images are looked for meanwhile, and pulled for this sandbox.
    if (sandboxConfigError(context.pod, context.settings) === null) context.sandboxConfig = configOf(context, attempt);
    return 'ungrounded';
  }
  if (!claimsPrepared(draft)) return 'claiming';
  if (refused(draft)) return 'creating';
  const config = configOf(context, attempt);
  context.sandboxConfig = config;
  want(draft, 'sandbox.run', (key) => {
    const { resolvConf } = context.settings;
    if (resolvConf === undefined || context.resolver === undefined)
      tellChangedAgain(draft, newestSandbox(context.observed));
    // Read anew for each sandbox, of which none is made while it cannot be read.
    if (resolvConf !== undefined && context.resolver === undefined)
      return { type: 'host.ReadResolver', key, params: { path: resolvConf } };
    tellResolverWarnings(draft);
    return {
      type: 'cri.RunPodSandbox',
      key,
      params: { config, ...runtimeOf(context) },
    };
  });
  return 'creating';
}

function tellChanged(draft: Draft): void {
  podEvent(draft, 'Normal', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
}

/**
 * A sandbox could not be made in the place of another: that it has changed is told with each further try, as at each sync of kubelet's.
 * Where the failed try has left one behind, who stops that has told it.
 */
function tellChangedAgain(draft: Draft, latest: ObservedSandbox | null): void {
  const last = draft.before.tasks['sandbox.run'];
  if (latest === null || (last?.failures ?? 0) === 0 || !behaves(draft.context.settings, 'triesAreToldOf')) return;
  const stopped = draft.context.tasks[`sandbox.stop/${latest.id}`];
  if (seqOf(stopped) < seqOf(last)) tellChanged(draft);
}

/** Number of the task's last effect: a later one is greater. */
function seqOf(task: Task | undefined): number {
  return Number(task?.key.slice(task.key.lastIndexOf('/') + 1) ?? 0);
}

/**
 * The runtime has no container of the pod any more, and by what was told of them its phase is final (kubelet's SyncPod ends such a pod
 * before it looks for a sandbox, whether there is an old one or not).
 */
function endedBefore(context: PodContext): boolean {
  const { pod, settings, status, observed } = context;
  if (!behaves(settings, 'endedBeforeTheirSandbox') || (observed?.containers ?? []).length > 0) return false;
  if (isTerminalPhase(status?.phase)) return true;
  if ((restartAllOf(context) ?? 'no') !== 'no') return false;
  const { initContainerStatuses: init = [], containerStatuses: regular = [] } = status ?? pod.status ?? {};
  return isTerminalPhase(phaseOnceGone(pod, [...init, ...regular]));
}

/**
 * What ran of a pod that is not restarted is gone with its sandbox: its containers' ends are unknown, so it has failed
 * (kubelet tells them with ContainerStatusUnknown, and SyncPod ends a pod whose phase is final).
 */
function vanished({ pod, settings, status }: PodContext): boolean {
  if (!behaves(settings, 'vanishedPodsEnd') || restartsOnFailure(pod)) return false;
  if (behaves(settings, 'toldVanishedEnd') && isTerminalPhase(status?.phase)) return true;
  const { initContainerStatuses = [], containerStatuses = [] } = status ?? pod.status ?? {};
  return [...initContainerStatuses, ...containerStatuses].some(
    ({ state }) => state?.running !== undefined || state?.terminated !== undefined,
  );
}

/** No sandbox can be made of this pod (its host name): told, and looked at again after the pause of a failed attempt. */
function refused(draft: Draft): boolean {
  const { context } = draft;
  const problem = sandboxConfigError(context.pod, context.settings);
  if (problem === null) return false;
  const task = taskOf(draft, 'sandbox.run');
  if (task?.state === 'failed' && draft.at < task.retryAt) return true;
  own(draft, 'tasks')['sandbox.run'] = task ?? { state: 'failed', key: '', failures: 0, retryAt: 0, error: null };
  taskFailed(draft, 'sandbox.run', { code: 'EINVAL', message: problem });
  podEvent(draft, 'Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${problem}`);
  return true;
}

/** States of a container machine that end with its sandbox: in the new one the pod begins from its first init container. */
const IN_SANDBOX = /^(running|starting\..*)$/;

/** Those of {@link IN_SANDBOX} in which there may be no container yet. */
const STARTING = /^starting\./;

/** What was being started in a sandbox that is not there any more is not started in the next one before its turn. */
function startsGivenUp(draft: Draft): boolean {
  stopThose(draft, STARTING);
  return !someStop(draft);
}

function stopThose(draft: Draft, states: RegExp): void {
  const { context } = draft;
  for (const [name, place] of Object.entries(context.containers)) {
    if (!states.test(statePath(place.value))) continue;
    const order = {
      reason: 'sandboxChanged' as const,
      message: `Stopping container ${name}`,
      graceSeconds: graceSecondsOf(context),
      since: draft.at,
      waitTurn: false,
    };
    tellContainer(draft, name, { type: 'kill', order });
  }
}

function someStop({ context }: Draft): boolean {
  return Object.values(context.containers).some((place) => statePath(place.value).startsWith('stopping'));
}

/** Stops the containers of the old sandbox and then the sandbox itself. */
export function oldOnesStopped(draft: Draft): boolean {
  const { context } = draft;
  const latest = newestSandbox(context.observed);
  if (latest === null) return true;
  // Once it is stopped, what starts belongs to the new one.
  const over = taskOf(draft, `sandbox.stop/${latest.id}`)?.state === 'done';
  if (!over) stopThose(draft, IN_SANDBOX);
  stopStrangers(draft);
  if (someStop(draft)) return false;
  if (context.observed?.containers.some((c) => c.state === 'running')) return false;
  let stopped = true;
  for (const sandbox of context.observed?.sandboxes ?? []) {
    const name = `sandbox.stop/${sandbox.id}`;
    if (taskOf(draft, name) === undefined && sandbox.id === latest.id) {
      tellChanged(draft);
    }
    if (!want(draft, name, (key) => ({ type: 'cri.StopPodSandbox', key, params: { podSandboxId: sandbox.id } })))
      stopped = false;
  }
  return stopped;
}

/** The sandbox's configuration, with what the pod was given of the node. */
function configOf(context: PodContext, attempt: number): SandboxConfig {
  const { volumeTraits: traits, resolver } = context;
  return sandboxWithGrants(context, sandboxConfig(context.pod, attempt, context.settings, { traits, resolver }));
}
