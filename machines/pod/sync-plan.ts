import { forPod } from './for-pod.ts';
import { podCgroup } from '../qos/pod-cgroup.ts';
import { tellContainer } from './children.ts';
import { planContainers } from './container-plan.ts';
import type { ContainerPlan } from './container-plan.ts';
import type { Draft } from './draft.ts';
import { forgetTasks, podEvent, taskOf, want } from './draft.ts';
import { graceSecondsOf, probeGraceSeconds } from './grace.ts';
import { statePath } from '../machine-step/step.ts';
import { containerEvent } from '../container/container-events.ts';
import { behaves } from '../protocol/behaviour.ts';
import { cgroupSettings, planCpus } from './cpu-grants.ts';
import { forgetNoNetwork, tellNoNetwork } from './network-wait.ts';
import { newestOf } from './observation.ts';
import { noteRestart, planResize, startsMustWait } from './resize.ts';
import { planRestartAll } from './restart-all.ts';
import { oldOnesStopped, planSandbox, sandboxNeed } from './sandbox-plan.ts';
import { letsOthersFirst } from './start-turn.ts';
import { specContainer, usesHostNetwork } from './spec.ts';
import { hasEndedForGood, noteStartAgain, settleStartAgain } from './start-again.ts';
import { beginTermination } from './termination.ts';
import type { NextState, PodContext } from './pod-context.ts';
import { imageVolumeState } from './awaited-images.ts';
import { wantImageVolumes } from './image-volumes.ts';
import { wantVolumes } from './volume-plan.ts';
import { activeDeadline } from './deadline.ts';
import { syncingState } from './syncing-state.ts';

/**
 * One level-triggered look at a pod that should run (kubelet SyncPod): from what is wanted and what is seen
 * follows what to ask for now. Nothing here waits: what is under way is found in tasks and child machines.
 */
export function planSyncing(draft: Draft): NextState {
  const { context } = draft;
  forgetLostCgroup(draft);
  if (endAtDeadline(draft)) return { state: 'terminating.stoppingContainers', why: 'activeDeadlineSeconds is over' };
  if (context.hold !== undefined) {
    const { message, until } = context.hold;
    return { state: 'syncing.waitingForPlugin', why: `${message}; until ${new Date(until).toISOString()}` };
  }
  if (!context.runtimeReady)
    return { state: 'syncing.waitingForRuntime', why: 'the container runtime does not answer or is not ready' };
  const hasSandbox = hasReadySandbox(context);
  if (!context.networkReady && !usesHostNetwork(context.pod) && !hasSandbox) {
    tellNoNetwork(draft);
    return { state: 'syncing.waitingForNetwork', why: "the runtime's network is not ready (CNI)" };
  }
  forgetNoNetwork(draft);
  const restarting = planRestartAll(draft);
  if (restarting !== null) return restarting;
  const volumes = wantVolumes(draft);
  // Both before the sandbox, as kubelet does: what lacks a volume gets no network, and the runtime finds the pod's limits set.
  const cgroup = wantCgroup(draft);
  const grounded = (volumes && cgroup) || !behaves(context.settings, 'sandboxAfterVolumes');
  const sandbox = planSandbox(draft, grounded);
  if (sandbox === 'notWorth') {
    endOfWork(draft);
    return { state: 'terminating.stoppingContainers', why: 'nothing is left to run' };
  }
  if (sandbox === 'stoppingOld')
    return {
      state: 'syncing.stoppingOldSandbox',
      why: 'the pod sandbox changed; what ran in the old one is stopped first',
    };
  const plan = planContainers(context, sandboxNeed(context).ready?.id ?? '');
  if (plan.newSandbox && sandbox === 'ready' && !oldOnesStopped(draft))
    return { state: 'syncing.stoppingOldSandbox', why: 'an init container failed that is not restarted by itself' };
  if (plan.killPod && sandbox === 'ready') {
    endOfWork(draft);
    return { state: 'terminating.stoppingContainers', why: 'nothing is left to run' };
  }
  carryOut(draft, plan);
  if (restartsEnded(draft)) return planSyncing(draft);
  wantImageVolumes(draft);
  if (sandbox === 'ungrounded') return cgroup ? mounting(draft) : makingCgroup(draft);
  if (sandbox === 'claiming')
    return { state: 'syncing.preparingClaims', why: taskOf(draft, 'claims')?.error?.message ?? '' };
  if (sandbox === 'creating') {
    return { state: 'syncing.creatingSandbox', why: taskOf(draft, 'sandbox.run')?.error?.message ?? '' };
  }
  if (!cgroup) return makingCgroup(draft);
  planResize(draft);
  if (!volumes) return mounting(draft);
  for (const name of Object.keys(context.containers)) tellContainer(draft, name, { type: 'proceed' });
  planCpus(draft);
  return imageVolumeState(context) ?? syncingState(context, plan.initialized);
}

function makingCgroup(draft: Draft): NextState {
  return { state: 'syncing.creatingCgroup', why: taskOf(draft, 'cgroup')?.error?.message ?? '' };
}

function mounting(draft: Draft): NextState {
  return { state: 'syncing.mountingVolumes', why: taskOf(draft, 'volumes')?.error?.message ?? '' };
}

function hasReadySandbox(context: PodContext): boolean {
  return sandboxNeed(context).ready !== null;
}

/** Who took the sandbox may have taken the pod's cgroup, too (a boot does): before the next one it is made again, with its limits. */
function forgetLostCgroup(draft: Draft): void {
  const { context, before } = draft;
  if (taskOf(draft, 'cgroup')?.state !== 'done' || hasReadySandbox(context) || !hasReadySandbox(before)) return;
  if (behaves(context.settings, 'lostCgroupsAreMade')) forgetTasks(draft, 'cgroup');
}

const cgroupOf = forPod(podCgroup);

function wantCgroup(draft: Draft): boolean {
  const { context } = draft;
  if (!context.settings.cgroupsPerQOS) return true;
  const limited = cgroupOf(context.pod, cgroupSettings(context));
  // The limits of a resize that was under way when the agent ended are set by its own steps.
  const cgroup = context.resize === undefined ? limited : { path: limited.path };
  return want(draft, 'cgroup', (key) => ({ type: 'host.EnsurePodCgroup', key, params: { cgroup } }));
}

/** Begins to end a pod that has been active for longer than it may; says whether it has (kubelet active_deadline.go). */
export function endAtDeadline(draft: Draft): boolean {
  const deadline = activeDeadline(draft.context);
  if (deadline === null || draft.at < deadline) return false;
  const message = 'Pod was active on the node longer than the specified deadline';
  podEvent(draft, 'Normal', 'DeadlineExceeded', message);
  beginTermination(draft, { reason: 'DeadlineExceeded', message }, 'Failed');
  return true;
}

/** All containers have done their part: the pod stops what still runs (sidecars) and ends. */
function endOfWork(draft: Draft): void {
  beginTermination(draft, { reason: 'Completed', message: '' }, null);
}

/** A container in unknown state may run after all: it is killed before another of its name is started. */
function surelyStopped(draft: Draft, name: string): boolean {
  const { context } = draft;
  const seen = newestOf(context.observed, name);
  if (seen?.state !== 'unknown') return true;
  const task = `container.stop/${seen.id}`;
  const place = context.containers[name];
  if (taskOf(draft, task) === undefined && place !== undefined) {
    const word = place.context.kind === 'regular' ? 'Container' : 'Init container';
    draft.effects.push(
      containerEvent(
        place.context,
        'Normal',
        'Killing',
        `${word} is in "unknown" state, try killing it before restart`,
      ),
    );
  }
  const timeoutSeconds = Math.max(2, Math.ceil(graceSecondsOf(context)));
  return want(draft, task, (key) => ({
    type: 'cri.StopContainer',
    key,
    params: { containerId: seen.id, timeoutSeconds },
  }));
}

/**
 * Restarts that are over: one whose image could not be pulled at once is not waited for when its policy lets it end (kubelet
 * starts it in the pass that stopped it, or by its policy).
 */
function restartsEnded(draft: Draft): boolean {
  const { context } = draft;
  const over = settleStartAgain(draft);
  for (const name of over) {
    const spec = specContainer(context.pod, name);
    if (spec === null || !hasEndedForGood(context, spec.container)) continue;
    if (statePath(context.containers[name]?.value ?? '') !== 'starting.imageBackOff') continue;
    const order = {
      reason: 'definitionChanged' as const,
      message: '',
      graceSeconds: 0,
      since: draft.at,
      waitTurn: false,
    };
    tellContainer(draft, name, { type: 'kill', order });
  }
  return over.length > 0;
}

function carryOut(draft: Draft, plan: ContainerPlan): void {
  const { context } = draft;
  for (const kill of plan.kill) {
    const graceSeconds =
      kill.reason === 'liveness' || kill.reason === 'startup'
        ? probeGraceSeconds(context, kill.name, kill.reason)
        : graceSecondsOf(context);
    if (kill.reason === 'resize') noteRestart(draft, kill.name);
    if (kill.restart && kill.reason !== 'resize') noteStartAgain(draft, kill.name);
    tellContainer(draft, kill.name, {
      type: 'kill',
      order: { reason: kill.reason, message: kill.message, graceSeconds, since: draft.at, waitTurn: false },
    });
  }
  if (startsMustWait(draft)) return;
  for (const name of plan.start) {
    if (surelyStopped(draft, name) && !letsOthersFirst(context, name)) tellContainer(draft, name, { type: 'start' });
  }
}
