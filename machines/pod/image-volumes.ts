import { goDuration } from '../values/go-duration.ts';
import { MAX_IMAGE_BACK_OFF_MS, nextBackOff } from '../container/back-off.ts';
import { RETRY_MS } from '../container/asking.ts';
import { containerEvent, runtimeError } from '../container/container-events.ts';
import { imageAnnotations } from '../container/image-annotations.ts';
import { withDefaultTag } from '../container/image-name.ts';
import { pullFailure } from '../images/pull-error.ts';
import { wantsFreshPull } from '../images/pull-policy.ts';
import { statePath } from '../machine-step/step.ts';
import type { Volume } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { Effect, ImagePresent } from '../protocol/effects.ts';
import type { EffectDone, EffectFailed } from '../protocol/messages.ts';
import { allContainers } from '../volumes/pod-containers.ts';
import { handlerOf, imagesOf, isHeld, mountedBy, volumeOf } from './awaited-images.ts';
import type { Draft } from './draft.ts';
import { forgetTasks, own, podEvent, taskOf, want } from './draft.ts';
import { NEW_IMAGE_VOLUME } from './image-volume.ts';
import type { ImageVolume } from './image-volume.ts';
import { imageRuntimeOf } from './pod-runtime.ts';

/** How long ErrImagePull is shown before it becomes ImagePullBackOff, ms (as with a container's own image). */
const ERROR_SHOWN_MS = 1_500;

type Source = NonNullable<Volume['image']>;

/**
 * Moves each image volume of the pod on: is its image there, may it be pulled, is it time to. Only while a container is to
 * start: a pod that runs has no use for another look.
 */
export function wantImageVolumes(draft: Draft): void {
  const { pod, containers } = draft.context;
  if (imagesOf(pod).length === 0) return;
  if (!Object.values(containers).some(({ value }) => statePath(value).startsWith('starting'))) return;
  for (const { name, image } of pod.spec?.volumes ?? []) {
    if (image !== undefined && volumeOf(draft.context, name).spec === null) wantImage(draft, name, image);
  }
}

function wantImage(draft: Draft, name: string, source: Source): void {
  const refused = taskOf(draft, refusedTask(name));
  if (refused !== undefined) {
    if (draft.at < refused.retryAt) return;
    // Somebody may have brought it: it is looked for again.
    forgetTasks(draft, refusedTask(name), lookTask(name));
  }
  const named = withDefaultTag(source.reference ?? '');
  if ('error' in named) {
    refuse(draft, name, 'InvalidImageName', {
      event: 'InspectFailed',
      message: `Failed to apply default image tag "${source.reference ?? ''}": ${named.error}`,
    });
    return;
  }
  if (source.pullPolicy !== 'Always') {
    if (isPaused(draft, name)) return;
    const { pod, settings } = draft.context;
    const params = { image: named.image, ...imageRuntimeOf(draft.context), ...imageAnnotations(pod, settings) };
    if (!want(draft, lookTask(name), (key) => ({ type: 'image.Status', key, params }))) return;
    if (source.pullPolicy === 'Never') {
      refuse(draft, name, 'ErrImageNeverPull', {
        event: 'ErrImageNeverPull',
        message: `Container image "${source.reference ?? ''}" is not present with pull policy of Never`,
      });
      return;
    }
  }
  if (!heldBack(draft, name, source)) want(draft, pullTask(name), (key) => pullEffect(draft, key, source, named.image));
}

function pullEffect(draft: Draft, key: string, source: Source, image: string): Effect {
  const { context } = draft;
  podEvent(draft, 'Normal', 'Pulling', `Pulling image "${source.reference ?? ''}"`);
  return {
    type: 'image.Pull',
    key,
    params: {
      image,
      ...imageRuntimeOf(context),
      ...imageAnnotations(context.pod, context.settings),
      namespace: context.pod.metadata?.namespace ?? 'default',
      pullSecrets: (context.pod.spec?.imagePullSecrets ?? []).map((s) => s.name ?? ''),
      sandboxConfig: context.sandboxConfig,
      ...(wantsFreshPull(source.pullPolicy, context.settings) && { fresh: true }),
    },
  };
}

/** A pull has failed, or is held back, and the image is not looked for again yet. */
function isPaused(draft: Draft, name: string): boolean {
  const pull = taskOf(draft, pullTask(name));
  return looksAgain(draft) && pull?.state === 'failed' && draft.at < pull.retryAt;
}

/** While a pull is held back somebody may bring the image: it is looked for before each pull. */
function looksAgain({ context }: Draft): boolean {
  return behaves(context.settings, 'imagesAreLookedForAgain');
}

/** The outcome of a task of an image volume; false when the task is another's. */
export function takeImageVolume(draft: Draft, task: string, outcome: EffectDone | EffectFailed): boolean {
  const [what, name = ''] = task.split('/');
  if (what !== 'imageLook' && what !== 'imagePull') return false;
  const source = draft.context.pod.spec?.volumes?.find((v) => v.name === name)?.image;
  if (source === undefined) return true;
  const reference = source.reference ?? '';
  if (outcome.type === 'effect.failed') {
    if (what === 'imagePull') pullFailed(draft, name, reference, outcome);
    else inspectFailed(draft, name, outcome);
  } else if (outcome.effect === 'image.Status' && outcome.result.present !== null) {
    const accessible = outcome.result.unchecked ? '' : ' and can be accessed by the pod';
    podEvent(draft, 'Normal', 'Pulled', `Container image "${reference}" already present on machine${accessible}`);
    found(draft, name, reference, outcome.result.present);
  } else if (outcome.effect === 'image.Pull') {
    const { ms, waitedMs, sizeBytes } = outcome.result;
    const times = `in ${goDuration(ms)} (${goDuration(waitedMs)} including waiting)`;
    podEvent(
      draft,
      'Normal',
      'Pulled',
      `Successfully pulled image "${reference}" ${times}. Image size: ${sizeBytes} bytes.`,
    );
    found(draft, name, reference, outcome.result);
  }
  return true;
}

/** A container could not be made: its image volumes may have gone from the node, so they are looked for again. */
export function forgetImageVolumes(draft: Draft, container: string): void {
  for (const name of mountedBy(draft.context, container)) {
    if (volumeOf(draft.context, name).spec === null) continue;
    forgetTasks(draft, lookTask(name), pullTask(name));
    setVolume(draft, name, { ...NEW_IMAGE_VOLUME });
  }
}

function found(draft: Draft, name: string, reference: string, { imageRef }: ImagePresent): void {
  const { pod } = draft.context;
  const spec = {
    image: imageRef,
    userSpecifiedImage: reference,
    runtimeHandler: handlerOf(draft.context),
    annotations: { ...pod.metadata?.annotations },
  };
  setVolume(draft, name, { spec, waiting: null, backOff: null });
}

/** Kubelet leaves out which image it was, as for a container's own. */
function inspectFailed(draft: Draft, name: string, { error }: EffectFailed): void {
  const reason = 'ImageInspectError';
  const text = runtimeError(error);
  if (!behaves(draft.context.settings, 'imageVolumesFailAsImages')) {
    setVolume(draft, name, { waiting: { reason, message: text } });
    return;
  }
  forgetTasks(draft, lookTask(name));
  refuse(draft, name, reason, { event: 'InspectFailed', message: `Failed to inspect image "": ${text}` });
}

function pullFailed(draft: Draft, name: string, reference: string, { error }: EffectFailed): void {
  const { at } = draft;
  // The runtime's code `Unknown` says nothing: its words stand alone (kubelet drops the code, too).
  const text = error.code === 'Unknown' ? error.message : runtimeError(error);
  const waiting = pullFailure(reference, text);
  const entry = nextBackOff(volumeOf(draft.context, name).backOff, at, at, MAX_IMAGE_BACK_OFF_MS);
  setVolume(draft, name, { waiting, backOff: { ...entry, error: `${waiting.reason}: ${waiting.message}` } });
  const task = taskOf(draft, pullTask(name));
  if (task !== undefined) own(draft, 'tasks')[pullTask(name)] = { ...task, retryAt: at + ERROR_SHOWN_MS };
  if (looksAgain(draft)) forgetTasks(draft, lookTask(name));
  const told = behaves(draft.context.settings, 'imageVolumesFailAsImages') ? text : waiting.message;
  podEvent(draft, 'Warning', 'Failed', `Failed to pull image "${reference}": ${told}`);
  tellContainers(draft, name, waiting.reason);
}

/** A pull failed not long ago: ImagePullBackOff until its delay is over. */
function heldBack(draft: Draft, name: string, source: Source): boolean {
  const { waiting, backOff } = volumeOf(draft.context, name);
  const task = taskOf(draft, pullTask(name));
  if (backOff === null || task?.state === 'running') return false;
  if (task !== undefined && draft.at < task.retryAt) return true;
  const until = backOff.since + backOff.delayMs;
  if (draft.at >= until) return false;
  const text = `Back-off pulling image "${source.reference ?? ''}"`;
  const again = looksAgain(draft) && source.pullPolicy !== 'Always';
  const retryAt = again ? Math.min(until, draft.at + RETRY_MS) : until;
  own(draft, 'tasks')[pullTask(name)] = { state: 'failed', key: '', failures: 1, retryAt, error: null };
  if (again) forgetTasks(draft, lookTask(name));
  if (again || waiting?.reason !== 'ImagePullBackOff') {
    setVolume(draft, name, { waiting: { reason: 'ImagePullBackOff', message: `${text}: ${backOff.error}` } });
    podEvent(draft, 'Normal', 'BackOff', text);
    tellContainers(draft, name, 'ImagePullBackOff');
  }
  return true;
}

/** The image cannot be had as things are: told, and looked at again after the pause of a failed start. */
function refuse(draft: Draft, name: string, reason: string, told: { event: string; message: string }): void {
  const error = { code: reason, message: told.message };
  const retryAt = draft.at + RETRY_MS;
  own(draft, 'tasks')[refusedTask(name)] = { state: 'failed', key: '', failures: 1, retryAt, error };
  setVolume(draft, name, { waiting: { reason, message: told.message } });
  podEvent(draft, 'Warning', told.event, told.message);
  tellContainers(draft, name, reason);
}

/** Event `Failed` of each container that the volume holds back. */
function tellContainers(draft: Draft, volume: string, reason: string): void {
  const { context } = draft;
  for (const { name } of allContainers(context.pod)) {
    const place = context.containers[name];
    if (place !== undefined && isHeld(context, name) && mountedBy(context, name).includes(volume))
      draft.effects.push(containerEvent(place.context, 'Warning', 'Failed', `Error: ${reason}`));
  }
}

function setVolume(draft: Draft, name: string, patch: Partial<ImageVolume>): void {
  const { context } = draft;
  context.imageVolumes = { ...context.imageVolumes, [name]: { ...volumeOf(context, name), ...patch } };
}

const lookTask = (name: string): string => `imageLook/${name}`;
const pullTask = (name: string): string => `imagePull/${name}`;
const refusedTask = (name: string): string => `imageRefused/${name}`;
