import { pullFailure } from '../images/pull-error.ts';
import { behaves } from '../protocol/behaviour.ts';
import { goDuration } from '../values/go-duration.ts';
import { ask, errorOf, outcomeOf, RETRY_MS } from './asking.ts';
import type { Out } from './asking.ts';
import { MAX_IMAGE_BACK_OFF_MS, nextBackOff } from './back-off.ts';
import type { ContainerContext, ContainerEvent } from './container-context.ts';
import { containerEvent, runtimeError } from './container-events.ts';
import { imageIsLookedForAgain } from './container-guards.ts';
import { withDefaultTag } from './image-name.ts';
import { imagePullEffect, imageStatusEffect } from './start-effects.ts';

export function badImageName(context: ContainerContext, { world }: ContainerEvent): Out {
  const image = world.container.image ?? '';
  const named = withDefaultTag(image);
  const message = `Failed to apply default image tag "${image}": ${'error' in named ? named.error : ''}`;
  return refused(context, world.at, 'InvalidImageName', { event: 'InspectFailed', message });
}

/** There is no image and none may be pulled: told, and tried again after the pause of a failed start. */
function refused(context: ContainerContext, at: number, reason: string, told: { event: string; message: string }): Out {
  const { event, message } = told;
  return {
    patch: { deadline: at + RETRY_MS, op: '', waiting: { reason, message } },
    effects: [
      containerEvent(context, 'Warning', event, message),
      containerEvent(context, 'Warning', 'Failed', `Error: ${reason}`),
    ],
  };
}

export function askImageStatus(context: ContainerContext, { world }: ContainerEvent): Out {
  return ask(context, imageStatusEffect(context, world));
}

/** Kubelet leaves out which image it was: its message names what was not found out. */
export function inspectFailed(context: ContainerContext, event: ContainerEvent): Out {
  const { at, settings } = event.world;
  const raw = errorOf(event);
  const reason = 'ImageInspectError';
  const text = runtimeError(raw);
  if (behaves(settings, 'failuresInKubeletsWords'))
    return refused(context, at, reason, { event: 'InspectFailed', message: `Failed to inspect image "": ${text}` });
  return {
    patch: { op: '', deadline: at + RETRY_MS, waiting: { reason, message: text } },
    effects: [containerEvent(context, 'Warning', 'Failed', `Error: ${raw.message}`)],
  };
}

export function imageFound(context: ContainerContext, event: ContainerEvent): Out {
  const outcome = outcomeOf(event);
  if (outcome?.effect !== 'image.Status' || outcome.result.present === null) return {};
  const { present, unchecked = false } = outcome.result;
  const accessible = unchecked ? '' : ' and can be accessed by the pod';
  const text = `Container image "${event.world.container.image ?? ''}" already present on machine${accessible}`;
  return {
    patch: { image: present, op: '', imageBackOff: null },
    effects: [containerEvent(context, 'Normal', 'Pulled', text)],
  };
}

export function neverPull(context: ContainerContext, { world }: ContainerEvent): Out {
  const message = `Container image "${world.container.image ?? ''}" is not present with pull policy of Never`;
  return refused(context, world.at, 'ErrImageNeverPull', { event: 'ErrImageNeverPull', message });
}

export function askImagePull(context: ContainerContext, { world }: ContainerEvent): Out {
  const pulling = containerEvent(context, 'Normal', 'Pulling', `Pulling image "${world.container.image ?? ''}"`);
  return ask(context, imagePullEffect(context, world), [pulling]);
}

export function imagePulled(context: ContainerContext, event: ContainerEvent): Out {
  const outcome = outcomeOf(event);
  if (outcome?.effect !== 'image.Pull') return {};
  const { ms, waitedMs, sizeBytes, ...present } = outcome.result;
  const image = event.world.container.image ?? '';
  const text = `Successfully pulled image "${image}" in ${goDuration(ms)} (${goDuration(waitedMs)} including waiting). Image size: ${sizeBytes} bytes.`;
  return {
    patch: { image: present, op: '', imageBackOff: null },
    effects: [containerEvent(context, 'Normal', 'Pulled', text)],
  };
}

/** How long ErrImagePull is shown before it becomes ImagePullBackOff, ms: about kubelet's time to its next sync. */
const ERROR_SHOWN_MS = 1_500;

/** ErrImagePull first; the delay then counts from now and doubles up to 300 s. */
export function pullFailed(context: ContainerContext, event: ContainerEvent): Out {
  const { world } = event;
  const image = world.container.image ?? '';
  const refused = errorOf(event);
  // The runtime's code `Unknown` says nothing: its words stand alone (kubelet drops the code, too).
  const text = refused.code === 'Unknown' ? refused.message : runtimeError(refused);
  const { reason, message } = pullFailure(image, text);
  const told = behaves(world.settings, 'failuresInKubeletsWords') ? text : message;
  const entry = nextBackOff(context.imageBackOff, world.at, world.at, MAX_IMAGE_BACK_OFF_MS);
  return {
    patch: {
      op: '',
      imageBackOff: { ...entry, error: `${reason}: ${message}` },
      deadline: world.at + ERROR_SHOWN_MS,
      waiting: { reason, message },
    },
    effects: [
      containerEvent(context, 'Warning', 'Failed', `Failed to pull image "${image}": ${told}`),
      containerEvent(context, 'Warning', 'Failed', `Error: ${reason}`),
    ],
  };
}

/** ImagePullBackOff for the rest of the delay, or until the image is looked for again. */
export function imageBackedOff(context: ContainerContext, event: ContainerEvent): Out {
  const { world } = event;
  const entry = context.imageBackOff;
  if (entry === null) return { patch: { deadline: world.at } };
  const text = `Back-off pulling image "${world.container.image ?? ''}"`;
  const over = entry.since + entry.delayMs;
  return {
    patch: {
      op: '',
      deadline: imageIsLookedForAgain(event) ? Math.min(over, world.at + RETRY_MS) : over,
      waiting: { reason: 'ImagePullBackOff', message: `${text}: ${entry.error}` },
    },
    effects: [
      containerEvent(context, 'Normal', 'BackOff', text),
      containerEvent(context, 'Warning', 'Failed', 'Error: ImagePullBackOff'),
    ],
  };
}
