import { behaves } from '../protocol/behaviour.ts';
import type { EffectDone, EffectFailed } from '../protocol/messages.ts';
import type { ObservedContainer } from '../protocol/observed.ts';
import { takeCpus } from './cpu-grants.ts';
import { probesOf, tellContainer, tellProbe } from './children.ts';
import type { Draft } from './draft.ts';
import { forgetTasks, podEvent, taskDone, taskFailed, taskGoesOn, taskNameOf, taskOf, own } from './draft.ts';
import { dropContainer, dropSandbox, newestSandbox, patchContainer, putContainer, putSandbox } from './observation.ts';
import { containerNotStopped, sandboxNotStopped } from './kill-failures.ts';
import { forgetImageVolumes, takeImageVolume } from './image-volumes.ts';
import { takeResize } from './resize.ts';
import { failureReason } from '../volumes/failure-reason.ts';
import { specContainer, usesHostNetwork } from './spec.ts';
import { failureText } from '../container/container-events.ts';
import { POD_DIRS } from '../volumes/pod-dirs.ts';
import { containerHash } from '../container-config/container-hash.ts';
import { beginTermination } from './termination.ts';
import { NO_ROOM, WAITING } from '../volume-manager/volume-waits.ts';

/** The outcome of an effect reaches the one that asked for it: a task, a container machine, a probe machine, or the view itself. */
export function takeOutcome(draft: Draft, outcome: EffectDone | EffectFailed): void {
  const [owner, name, kind] = outcome.key.split('/');
  if (owner === 'task') takeTask(draft, outcome);
  else if (owner === 'container' && name !== undefined) takeContainer(draft, name, outcome);
  else if (owner === 'probe' && name !== undefined) takeProbe(draft, name, kind ?? '', outcome);
  else if (owner === 'inspect' && name !== undefined) takeInspection(draft, name, outcome);
}

function takeContainer(draft: Draft, name: string, outcome: EffectDone | EffectFailed): void {
  noteFact(draft, name, outcome);
  if (outcome.type === 'effect.done') tellContainer(draft, name, { type: 'done', outcome });
  else {
    tellContainer(draft, name, { type: 'failed', outcome });
    if (outcome.effect === 'cri.CreateContainer') forgetImageVolumes(draft, name);
    if (outcome.effect === 'cri.StopContainer') containerNotStopped(draft, name, outcome);
  }
}

/** What CreateContainer and StartContainer prove is put into the view before anybody looks. */
function noteFact(draft: Draft, name: string, outcome: EffectDone | EffectFailed): void {
  const context = draft.context.containers[name]?.context;
  if (outcome.type !== 'effect.done') {
    if (context?.op === outcome.key) noteFailure(draft, context.id, outcome);
    return;
  }
  if (context === undefined || context.op !== outcome.key) {
    if (outcome.effect === 'cri.CreateContainer') draft.effects.push({ type: 'pleg.Observe', key: '', params: {} });
    return;
  }
  if (outcome.effect === 'cri.CreateContainer')
    putContainer(draft, newContainer(draft, name, outcome.result.containerId, context.attempt));
  if (outcome.effect === 'cri.StartContainer')
    patchContainer(draft, context.id, {
      ...{ state: 'running', startedAt: draft.at },
      ...(isToldOnceLookedAt(draft, context.attempt) && { unseen: true as const }),
    });
  if (outcome.effect === 'cri.ContainerStatus') putStatus(draft, outcome.result);
}

/** That it runs is told with what the look that follows its start says of it: one status, not two. */
function isToldOnceLookedAt({ context: { settings } }: Draft, attempt: number): boolean {
  return behaves(settings, 'toldOnceLookedAt') && (attempt === 0 || behaves(settings, 'backsOffUntilItRuns'));
}

/** What the failure of an own call proves of container `id`, or leaves open. */
function noteFailure(draft: Draft, id: string, { effect, error }: EffectFailed): void {
  if (effect === 'cri.ContainerStatus' && error.code === 'NotFound') dropContainer(draft, id);
  // A container may have been made all the same (an answer lost with the runtime): look before the next try.
  const asked = effect === 'cri.CreateContainer' && error.code !== 'CreateContainerConfigError';
  if (asked && behaves(draft.context.settings, 'failedStartsAreLookedAt'))
    draft.effects.push({ type: 'pleg.Observe', key: '', params: {} });
}

function newContainer(draft: Draft, name: string, id: string, attempt: number): ObservedContainer {
  const { context } = draft;
  const spec = specContainer(context.pod, name);
  const image = context.containers[name]?.context.image;
  return {
    id,
    name,
    sandboxId: newestSandbox(context.observed)?.id ?? '',
    state: 'created',
    createdAt: draft.at,
    startedAt: 0,
    finishedAt: 0,
    exitCode: 0,
    reason: '',
    message: '',
    image: image?.repoTag ?? spec?.container.image ?? '',
    imageRef: image?.repoDigest ?? image?.imageRef ?? '',
    imageId: '',
    logPath: `${context.sandboxConfig?.logDirectory ?? ''}/${name}/${attempt}.log`,
    hash: spec === null ? '' : containerHash(spec.container),
    restartCount: attempt,
    annotations: {},
    labels: {},
  };
}

function takeProbe(draft: Draft, name: string, kind: string, outcome: EffectDone | EffectFailed): void {
  const owner = specContainer(draft.context.pod, name);
  const found = owner === null ? undefined : probesOf(owner).find((p) => p.kind === kind);
  if (owner === null || found === undefined) return;
  if (outcome.type === 'effect.done') tellProbe(draft, owner, found.kind, found.probe, { type: 'done', outcome });
  else tellProbe(draft, owner, found.kind, found.probe, { type: 'failed', outcome });
}

function takeInspection(draft: Draft, id: string, outcome: EffectDone | EffectFailed): void {
  if (outcome.type === 'effect.done' && outcome.effect === 'cri.ContainerStatus') {
    // It was stopped, and runs nevertheless: the stop is not done.
    if (outcome.result.state === 'running' && taskOf(draft, `container.stop/${id}`)?.state === 'done') {
      taskFailed(draft, `container.stop/${id}`, { code: 'Unknown', message: 'the container still runs' });
    }
    putStatus(draft, outcome.result);
  } else if (outcome.type === 'effect.failed' && outcome.error.code === 'NotFound') dropContainer(draft, id);
  else {
    takeAsSeen(draft, id);
    draft.effects.push({ type: 'pleg.Observe', key: '', params: {} });
  }
}

/** The look failed: what the own call has told of the container is told on. */
function takeAsSeen(draft: Draft, id: string): void {
  const known = draft.context.observed?.containers.find((c) => c.id === id);
  if (known?.unseen !== true) return;
  const { unseen: _unseen, ...seen } = known;
  putContainer(draft, seen);
}

/** ContainerStatus does not name the sandbox: what was known of it stays. */
function putStatus(draft: Draft, told: ObservedContainer): void {
  const known = draft.context.observed?.containers.find((c) => c.id === told.id);
  putContainer(draft, { ...told, sandboxId: told.sandboxId || (known?.sandboxId ?? '') });
}

function takeTask(draft: Draft, outcome: EffectDone | EffectFailed): void {
  const name = taskNameOf(outcome.key);
  const task = name === null ? undefined : draft.context.tasks[name];
  // An outcome that comes a second time, or after the task was forgotten, says nothing new.
  if (name === null || task?.key !== outcome.key || task.state !== 'running') return;
  if (name === 'resize') {
    takeResize(draft, outcome);
    return;
  }
  if (takeCpus(draft, name, outcome)) return;
  if (outcome.type === 'effect.failed') {
    if (outcome.error.code === 'NotFound' && goneIsGood(name)) taskSucceeded(draft, name, null);
    else taskWentWrong(draft, name, outcome);
    return;
  }
  taskSucceeded(draft, name, outcome);
}

/** Stopping or removing what is not there has been achieved. */
function goneIsGood(name: string): boolean {
  return /^(container|sandbox)\.(stop|remove)\//.test(name);
}

function taskSucceeded(draft: Draft, name: string, outcome: EffectDone | null): void {
  if (outcome?.effect === 'host.ReadResolver') {
    draft.context.resolver = outcome.result;
    return taskGoesOn(draft, name);
  }
  if (name === 'sandbox.run') delete draft.context.resolver;
  taskDone(draft, name);
  if (outcome !== null && takeImageVolume(draft, name, outcome)) return;
  const { context } = draft;
  const [what, id = ''] = name.split('/');
  if (outcome?.effect === 'host.SetUpVolumes') {
    context.volumePaths = outcome.result.paths;
    delete context.volumeTraits;
    if (outcome.result.traits !== undefined) context.volumeTraits = outcome.result.traits;
  }
  if (outcome?.effect === 'host.ReadTerminationMessage') {
    own(draft, 'messages')[id] = outcome.result.message;
    forgetTasks(draft, name);
  }
  if (outcome?.effect === 'cri.RunPodSandbox') newSandbox(draft, outcome.result);
  if (outcome?.effect === 'cri.PodSandboxStatus') refineSandbox(draft, id, outcome.result);
  if (what === 'sandbox.stop') {
    const known = context.observed?.sandboxes.find((s) => s.id === id);
    if (known !== undefined) putSandbox(draft, { ...known, state: 'notReady' });
  }
  if (what === 'container.stop')
    draft.effects.push({ type: 'cri.ContainerStatus', key: `inspect/${id}`, params: { containerId: id } });
  if (what === 'container.remove') {
    dropContainer(draft, id);
    if (context.messages[id] !== undefined) delete own(draft, 'messages')[id];
    forgetTasks(draft, name, `container.log/${id}`, `container.stop/${id}`);
  }
  if (what === 'sandbox.remove') {
    dropSandbox(draft, id);
    forgetTasks(draft, name, `sandbox.stop/${id}`, `sandbox.status/${id}`);
  }
}

function newSandbox(draft: Draft, made: { podSandboxId: string; runtimeHandler?: string }): void {
  const { context } = draft;
  putSandbox(draft, {
    id: made.podSandboxId,
    attempt: context.sandboxConfig?.metadata.attempt ?? 0,
    state: 'ready',
    createdAt: draft.at,
    ips: [],
    hostNetwork: usesHostNetwork(context.pod),
    runtimeHandler: made.runtimeHandler ?? context.pod.spec?.runtimeClassName ?? '',
    labels: context.sandboxConfig?.labels ?? {},
    annotations: context.sandboxConfig?.annotations ?? {},
  });
}

function refineSandbox(draft: Draft, id: string, result: { ips: string[]; ready: boolean }): void {
  const known = draft.context.observed?.sandboxes.find((s) => s.id === id);
  if (known === undefined) return;
  const { unaddressed, ...rest } = known;
  putSandbox(draft, {
    ...rest,
    ...{ ips: result.ips, state: result.ready ? 'ready' : 'notReady' },
    ...(unaddressed && result.ips.length === 0 && { unaddressed }),
  });
  if (result.ips.length > 0) return;
  // Of a sandbox that was just made this says nothing yet: the look that follows does (in kubelet the next sync's).
  if (behaves(draft.context.settings, 'unaddressedAreReplaced'))
    draft.effects.push({ type: 'pleg.Observe', key: '', params: {} });
  taskFailed(draft, `sandbox.status/${id}`, { code: 'Unknown', message: 'the sandbox has no address yet' });
}

/** It was given up because the pod is to end (kubelet tells no event of what a canceled sync of a pod waited for). */
function isCanceled({ context }: Draft, { error }: EffectFailed): boolean {
  return (
    error.code === 'Canceled' && context.termination !== null && behaves(context.settings, 'canceledMountsAreQuiet')
  );
}

function mountFailure({ context: { settings } }: Draft, text: string): string {
  return behaves(settings, 'failedMapsAreTold') ? failureReason(text) : 'FailedMount';
}

/** Nothing has failed, it only takes long (kubelet's pod worker tells no event when its wait for volumes is over); what it waits for is asked by `explain`. */
function onlyWaits({ context }: Draft, { error }: EffectFailed): boolean {
  return error.code === WAITING.timeout && behaves(context.settings, 'slowVolumesAreQuiet');
}

/** The node has no room for a volume of a pod that begins; of one that runs its volumes are there, whatever is said of them. */
function findsNoRoom({ context }: Draft, name: string, { error }: EffectFailed): boolean {
  if (name !== 'volumes' || error.code !== NO_ROOM || context.termination !== null) return false;
  return !(context.observed?.containers ?? []).some(({ state }) => state === 'running');
}

/**
 * The node rejects a pod that it had taken (kubelet: rejectPod, and the pod's sync is its last). Unlike one that was never taken it has containers, of
 * which none ran.
 */
function reject(draft: Draft, { reason, message }: { reason: string; message: string }): void {
  podEvent(draft, 'Warning', reason, message);
  beginTermination(draft, { reason, message: `Pod was rejected: ${message}`, gracePeriodSeconds: 0 }, 'Failed');
}

/** Tells what a failed task means to an operator; the task itself is tried again after its pause. */
function taskWentWrong(draft: Draft, name: string, outcome: EffectFailed): void {
  const { context } = draft;
  const text = failureText(outcome);
  taskFailed(
    draft,
    name,
    { code: outcome.error.code, message: text },
    name === 'sandbox.run' ? { firstMs: 1_000, longestMs: 60_000 } : undefined,
  );
  if (takeImageVolume(draft, name, outcome)) return;
  if (findsNoRoom(draft, name, outcome)) {
    reject(draft, { reason: NO_ROOM, message: text });
    return;
  }
  if (name === 'sandbox.run') {
    delete context.resolver;
    // A pod that is to end takes its network and volumes with it, so the failure means nothing (kubelet SyncPod).
    if (context.termination === null || !behaves(context.settings, 'failedStartsAsKubelets'))
      podEvent(draft, 'Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${text}`);
    // A sandbox may have been made all the same (an answer lost with the runtime): look before the next try.
    if (outcome.effect === 'cri.RunPodSandbox') draft.effects.push({ type: 'pleg.Observe', key: '', params: {} });
  }
  if (name.startsWith('sandbox.status/'))
    podEvent(draft, 'Warning', 'FailedPodSandBoxStatus', `Unable to get pod sandbox status: ${text}`);
  if ((name === 'volumes' || name === 'volumes.refresh') && !isCanceled(draft, outcome) && !onlyWaits(draft, outcome)) {
    if (outcome.error.code === POD_DIRS)
      podEvent(draft, 'Warning', 'Failed', `error making pod data directories: ${text}`);
    else podEvent(draft, 'Warning', mountFailure(draft, text), text);
  }
  // Claims that are not taken back are in no event of kubelet's: the pod says why it waits.
  if (name === 'claims')
    podEvent(draft, 'Warning', 'FailedPrepareDynamicResources', `Failed to prepare dynamic resources: ${text}`);
  if (name === 'cgroup')
    podEvent(draft, 'Warning', 'FailedCreatePodContainer', `unable to ensure pod container exists: ${text}`);
  if (name.startsWith('sandbox.stop/')) sandboxNotStopped(draft, text);
  if (name.startsWith('message/')) {
    own(draft, 'messages')[name.slice('message/'.length)] = '';
    forgetTasks(draft, name);
  }
}
