import { containerResources } from '../container-config/container-resources.ts';
import { runtimeError } from '../container/container-events.ts';
import { statePath } from '../machine-step/step.ts';
import type { Container, Pod } from '../protocol/api-types.ts';
import type { Effect } from '../protocol/effects.ts';
import type { ResizeMemory } from '../protocol/memory.ts';
import type { EffectDone, EffectFailed } from '../protocol/messages.ts';
import type { ObservedContainer } from '../protocol/observed.ts';
import { isStaticPod } from '../qos/critical-pod.ts';
import { cgroupParent, podCgroup } from '../qos/pod-cgroup.ts';
import { memoryFault } from '../resize/memory-check.ts';
import { givenContainer, givenContainers, hadBefore } from '../resize/pod-level.ts';
import { sameSizes, withResource } from '../resize/requirements.ts';
import type { Requirements } from '../protocol/requirements.ts';
import { notedBefore } from '../resize/resize-conditions.ts';
import { resizeMessage } from '../resize/resize-events.ts';
import type { ResizeEvent } from '../resize/resize-events.ts';
import { needsRestart, resizeSteps } from '../resize/resize-plan.ts';
import type { ResizeStep, ResizeTarget } from '../resize/resize-plan.ts';
import { cgroupSettings, runsWithoutQuota } from './cpu-grants.ts';
import { forgetTasks, podEvent, taskFailed, taskOf, want } from './draft.ts';
import type { Draft } from './draft.ts';
import { newestOf, newestSandbox } from './observation.ts';
import type { PodContext, PodResize } from './pod-context.ts';

/** Name of the task that carries out one call of a resize after the other. */
const TASK = 'resize';
/** Pause after a failed call, ms: kubelet's pod workers try again after so long. */
const RETRY_MS = 10_000;

/**
 * A newer definition of the pod (its resources are the allocated ones): when cpu or memory of a container is another
 * now, a resize begins, or goes on towards the new values; what went wrong with the old ones is forgotten.
 */
export function noteResize(draft: Draft, before: Pod, after: Pod): void {
  const { context } = draft;
  if (context.termination !== null || isStaticPod(after)) return;
  const had = hadBefore(before, after, context.settings);
  if (had === undefined) return;
  const actuated: Record<string, Requirements> = { ...context.resize?.actuated };
  for (const [name, old] of Object.entries(had.actuated))
    if (!Object.hasOwn(actuated, name) && isMade(context, name)) actuated[name] = old;
  const generation = after.metadata?.generation ?? 0;
  const { restarting = [], steps: known = null, podLevel = had.podLevel } = context.resize ?? {};
  // A call that is under way is waited for: what it does counts.
  const busy = taskOf(draft, TASK)?.state === 'running';
  const steps = busy ? (known?.slice(0, 1) ?? null) : null;
  context.resize = {
    ...{ generation, since: draft.at, error: '', actuated, restarting, unsettled: true, steps },
    ...(podLevel && { podLevel }),
  };
  if (!busy) forgetTasks(draft, TASK);
  tell(draft, 'ResizeStarted');
}

/** A resize that an earlier agent began: its memory, else what it told the API of it. */
export function adoptResize(draft: Draft, remembered: ResizeMemory | undefined): void {
  const { context, at } = draft;
  if (isStaticPod(context.pod)) return;
  const told = notedBefore(context.pod, 'PodResizeInProgress', at);
  if (remembered === undefined && told === undefined) return;
  const resize: ResizeMemory = remembered ?? {
    generation: told?.generation ?? 0,
    since: told?.since ?? at,
    error: told?.message ?? '',
    actuated: {},
  };
  context.resize = { ...resize, restarting: [], unsettled: true, steps: null };
}

/** A container runs with resources that it can only lose by a restart (`resizePolicy`: RestartContainer). */
export function restartsForResize({ resize, pod, settings }: PodContext, container: Container): boolean {
  if (resize === undefined || !Object.hasOwn(resize.actuated, container.name)) return false;
  return needsRestart(givenContainer(pod, container, settings), resize.actuated[container.name]);
}

/** A container ended because its resources change: it runs again whatever its policy says. */
export function restartsForResizeNow({ resize }: PodContext, name: string): boolean {
  return resize?.restarting.includes(name) === true;
}

/** Containers start once the pod's cgroup allows what they were given; a try that failed holds nobody back. */
export function startsMustWait(draft: Draft): boolean {
  const { resize, settings } = draft.context;
  if (resize === undefined || !settings.cgroupsPerQOS || taskOf(draft, TASK)?.state === 'failed') return false;
  return resize.unsettled || resize.steps?.some((step) => step.do === 'cgroup') === true;
}

/** Notes that a container was told to stop so that it starts with its new resources. */
export function noteRestart(draft: Draft, name: string): void {
  const { resize } = draft.context;
  if (resize === undefined || resize.restarting.includes(name)) return;
  draft.context.resize = { ...resize, restarting: [...resize.restarting, name] };
}

/** Carries the resize on by one call, or ends it. Asked in each step of a pod that should run and has its sandbox. */
export function planResize(draft: Draft): void {
  const { context } = draft;
  if (context.resize === undefined) return;
  context.resize = swept(draft, context.resize);
  const { resize } = context;
  const targets = targetsOf(context, resize);
  // What restarts gives its share back first, as kubelet kills before it resizes.
  const stopping = targets.some(({ container }) => restartsForResize(context, container));
  if (stopping || taskOf(draft, TASK)?.state === 'running') return;
  const idle = resize.steps === null || resize.steps.length === 0;
  if (idle && !resize.unsettled && targets.length === 0) {
    if (resize.restarting.length === 0 && Object.keys(resize.actuated).length === 0) complete(draft);
    return;
  }
  if (!context.settings.cgroupsPerQOS && resize.steps === null) {
    settle(context, resize, stepsWithoutCgroup(context, targets));
    planResize(draft);
    return;
  }
  const next = resize.steps?.[0];
  if (next === undefined) want(draft, TASK, (key) => readEffect(context, targets, key));
  else want(draft, TASK, (key) => stepEffect(context, next, key));
}

/** Takes the outcome of one call. */
export function takeResize(draft: Draft, outcome: EffectDone | EffectFailed): void {
  const { context } = draft;
  const { resize } = context;
  if (resize === undefined) {
    forgetTasks(draft, TASK);
    return;
  }
  if (outcome.type === 'effect.failed') {
    const cri = outcome.effect.startsWith('cri.');
    wrong(draft, cri ? runtimeError(outcome.error) : outcome.error.message, outcome.error.code);
    return;
  }
  if (outcome.effect === 'host.ReadPodResources') {
    const { result } = outcome;
    const targets = targetsOf(context, resize);
    // The definition changed meanwhile: others are to be resized than were looked at.
    const known = targets.every(({ container }) => Object.hasOwn(result.containers, container.name));
    const fault = known ? memoryFault(context.pod, targets, result, context.settings) : null;
    if (fault !== null) {
      wrong(draft, fault, 'EINVAL');
      return;
    }
    forgetTasks(draft, TASK);
    if (!known) return;
    settle(context, resize, resizeSteps(context.pod, targets, result, cgroupSettings(context)));
    return;
  }
  forgetTasks(draft, TASK);
  const [done, ...rest] = resize.steps ?? [];
  if (done === undefined) return;
  context.resize = { ...resize, steps: rest };
  if (done.do === 'cgroup') tookEffectForAll(context, context.resize, done);
  if (done.do === 'cgroup' && !rest.some((step) => step.do === 'cgroup')) tellRuntime(draft);
  if (done.do === 'container') tookEffect(draft, context.resize, done);
}

/** The calls are known; where none is one for the pod's cgroup, it allows what was allocated. */
function settle(context: PodContext, { podLevel, ...resize }: PodResize, steps: ResizeStep[]): void {
  const differs = podLevel !== undefined && steps.some((step) => step.do === 'cgroup');
  context.resize = { ...resize, ...(differs && { podLevel }), unsettled: false, steps };
}

/** What the whole pod has now of a resource is known, once its last limit is set. */
function tookEffectForAll(
  context: PodContext,
  { podLevel, ...resize }: PodResize,
  { resource }: Extract<ResizeStep, { do: 'cgroup' }>,
): void {
  const left = (resize.steps ?? []).filter((step) => step.do === 'cgroup');
  if (podLevel === undefined || left.some((step) => step.resource === resource)) return;
  const has = withResource(podLevel, context.pod.spec?.resources, resource);
  context.resize = { ...resize, ...(left.length > 0 && { podLevel: has }) };
}

/** What the container has now is known; the status shows what the runtime makes of it. */
function tookEffect(draft: Draft, resize: PodResize, step: Extract<ResizeStep, { do: 'container' }>): void {
  draft.context.resize = { ...resize, actuated: { ...resize.actuated, [step.name]: step.actuated } };
  draft.effects.push({ type: 'cri.ContainerStatus', key: `inspect/${step.id}`, params: { containerId: step.id } });
}

/** The runtime hears of the pod's new limits, without the overhead of its class. Nothing depends on the answer. */
function tellRuntime({ context, effects }: Draft): void {
  const { pod, settings, observed, sandboxConfig } = context;
  const podSandboxId = newestSandbox(observed)?.id;
  if (podSandboxId === undefined) return;
  const spec = { containers: [], ...pod.spec, overhead: undefined };
  const { cpuShares, cpuQuotaUs, cpuPeriodUs, memoryLimitBytes } = podCgroup({ ...pod, spec }, settings);
  const resources = {
    ...(cpuPeriodUs !== undefined && { cpuPeriod: String(cpuPeriodUs) }),
    ...(cpuQuotaUs !== undefined && { cpuQuota: String(cpuQuotaUs) }),
    ...(cpuShares !== undefined && { cpuShares: String(cpuShares) }),
    ...(memoryLimitBytes !== undefined && { memoryLimitInBytes: String(memoryLimitBytes) }),
  };
  const overhead = sandboxConfig?.linux.overhead;
  effects.push({
    type: 'cri.UpdatePodSandboxResources',
    key: `sandbox/${podSandboxId}/resized`,
    params: { podSandboxId, resources, ...(overhead && { overhead }) },
  });
}

function wrong(draft: Draft, message: string, code: string): void {
  const { context } = draft;
  const { resize } = context;
  taskFailed(draft, TASK, { code, message }, { firstMs: RETRY_MS, longestMs: RETRY_MS });
  if (resize === undefined) return;
  const since = resize.error === '' ? draft.at : resize.since;
  context.resize = { ...resize, error: message, since, steps: null, unsettled: true };
  if (resize.error !== message) tell(draft, 'ResizeError', message);
}

function complete(draft: Draft): void {
  tell(draft, 'ResizeCompleted');
  delete draft.context.resize;
  forgetTasks(draft, TASK);
}

function tell(draft: Draft, event: ResizeEvent, error = ''): void {
  const { pod, resize } = draft.context;
  const text = resizeMessage(event, pod, resize?.generation ?? 0, error);
  podEvent(draft, event === 'ResizeError' ? 'Warning' : 'Normal', event, text);
}

/** A container exists (or is being made) with the resources of an older definition. */
function isMade(context: PodContext, name: string): boolean {
  const seen = newestOf(context.observed, name);
  if (seen?.state === 'running' || seen?.state === 'created') return true;
  return /^starting\.(creating|started|postStart)/.test(statePath(context.containers[name]?.value));
}

/** What is over is dropped: containers that have what they should, that ended, that were made anew. */
function swept(draft: Draft, resize: PodResize): PodResize {
  const { context } = draft;
  const made = new Set(
    draft.effects.flatMap((e) => (e.type === 'cri.CreateContainer' ? [e.params.config.metadata.name] : [])),
  );
  const actuated: Record<string, Requirements> = {};
  for (const container of givenContainers(context.pod, context.settings)) {
    const { name } = container;
    const has = resize.actuated[name];
    if (has === undefined || made.has(name) || !isMade(context, name)) continue;
    if (!sameSizes(has, container.resources)) actuated[name] = has;
  }
  const restarting = resize.restarting.filter((name) => {
    const seen = newestOf(context.observed, name);
    // Stopped and not made again yet.
    return (
      !made.has(name) && (Object.hasOwn(actuated, name) || seen?.state === 'exited') && waitsForStart(context, name)
    );
  });
  return { ...resize, actuated, restarting };
}

/** A start that fails, or is held back, does not keep a resize open. */
function waitsForStart(context: PodContext, name: string): boolean {
  const value = statePath(context.containers[name]?.value);
  return value !== 'backingOff' && value !== 'retrying' && value !== 'inDoubt';
}

function targetsOf(context: PodContext, resize: PodResize): ResizeTarget[] {
  return givenContainers(context.pod, context.settings).flatMap((container) => {
    const seen: ObservedContainer | null = newestOf(context.observed, container.name);
    if (seen?.state !== 'running' || !Object.hasOwn(resize.actuated, container.name)) return [];
    return [{ container, id: seen.id, actuated: resize.actuated[container.name] }];
  });
}

function stepsWithoutCgroup(context: PodContext, targets: readonly ResizeTarget[]): ResizeStep[] {
  const nothing = { cpuShares: 0, cpuQuotaUs: 0, cpuPeriodUs: 0, memoryLimitBytes: 0 };
  return resizeSteps(context.pod, targets, nothing, cgroupSettings(context)).filter((step) => step.do === 'container');
}

function readEffect(context: PodContext, targets: readonly ResizeTarget[], key: string): Effect {
  const path = cgroupParent(context.pod, context.settings);
  const containers = targets.map(({ container, id }) => ({ name: container.name, id }));
  return { type: 'host.ReadPodResources', key, params: { path, containers } };
}

function stepEffect(context: PodContext, step: ResizeStep, key: string): Effect {
  const { pod, settings } = context;
  if (step.do === 'cgroup')
    return { type: 'host.UpdatePodCgroup', key, params: { path: cgroupParent(pod, settings), limits: step.limits } };
  const container = givenContainers(pod, settings).find(({ name }) => name === step.name);
  const linux = containerResources(pod, { name: step.name, ...container, resources: step.actuated }, settings);
  const quotaOff = runsWithoutQuota(context, step.name) && linux.cpuPeriod !== undefined;
  const given = quotaOff ? { ...linux, cpuQuota: '-1' } : linux;
  return { type: 'cri.UpdateContainerResources', key, params: { containerId: step.id, linux: given } };
}
