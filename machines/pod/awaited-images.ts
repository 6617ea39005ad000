import { statePath } from '../machine-step/step.ts';
import type { Container, Pod } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { CriImageSpec } from '../protocol/cri-shapes.ts';
import { allContainers } from '../volumes/pod-containers.ts';
import { NEW_IMAGE_VOLUME } from './image-volume.ts';
import type { ImageVolume } from './image-volume.ts';
import { newestSandbox } from './observation.ts';
import type { NextState, PodContext } from './pod-context.ts';
import { volumePullWords } from './pull-turns.ts';

/** The images that a container mounts, by volume; null while one of them is not there. */
export function imagesFor(context: PodContext, container: Container): Record<string, CriImageSpec> | null {
  if (imagesOf(context.pod).length === 0) return NO_IMAGES;
  const images: Record<string, CriImageSpec> = {};
  // By now the sandbox has been made, which knows what its RuntimeClass stands for.
  const mounted = context.settings.imagesByHandler ? handlerOf(context) : '';
  for (const name of mountedBy(context, container.name)) {
    const { spec } = volumeOf(context, name);
    if (spec === null) return null;
    images[name] = behaves(context.settings, 'gatedImageHandlers') ? { ...spec, runtimeHandler: mounted } : spec;
  }
  return images;
}

/** What `state.waiting` of a container says of its image volumes, null when they do not hold it back. */
export function imageVolumeWaiting(context: PodContext, container: string): ImageVolume['waiting'] {
  if (context.imageVolumes === undefined || !isHeld(context, container)) return null;
  for (const name of mountedBy(context, container)) {
    const { waiting } = volumeOf(context, name);
    if (waiting !== null) return waiting;
  }
  return null;
}

/** The state of a pod that waits for the image of a volume and for nothing else. */
export function imageVolumeState(context: PodContext): NextState | null {
  const lacking = lackingImage(context);
  if (lacking === null) return null;
  const { container, volume } = lacking;
  const { waiting } = volumeOf(context, volume);
  if (waiting === null) return { state: 'syncing.pullingImage', why: pullWhy(context, container, volume) };
  return { state: 'syncing.imageBackOff', why: `${container}: ${waiting.reason}: ${waiting.message}` };
}

/** The first container that waits for the image of a volume and for nothing else, and that volume. */
export function lackingImage(context: PodContext): { container: string; volume: string } | null {
  if (imagesOf(context.pod).length === 0) return null;
  for (const { name } of allContainers(context.pod)) {
    const volume = isHeld(context, name) ? mountedBy(context, name).find((v) => lacks(context, v)) : undefined;
    if (volume !== undefined) return { container: name, volume };
  }
  return null;
}

/** Why a container waits for the image of a volume: it is being looked for, or pulled. */
function pullWhy(context: PodContext, container: string, name: string): string {
  if (!behaves(context.settings, 'pullsAreShared')) return `volume ${name} of ${container}`;
  return volumePullWords(context, container, name);
}

/** The container is asked to start, has its own image, and waits for what the pod brings. */
export function isHeld(context: PodContext, container: string): boolean {
  return statePath(context.containers[container]?.value ?? '') === 'starting.awaitingPod';
}

const NONE: readonly string[] = [];
const NO_IMAGES: Record<string, CriImageSpec> = {};
/** Made once for each definition: each step asks. */
const IMAGES = new WeakMap<Pod, readonly string[]>();

/** Names of the pod's image volumes. */
export function imagesOf(pod: Pod): readonly string[] {
  const volumes = pod.spec?.volumes;
  if (volumes === undefined || volumes.length === 0) return NONE;
  let images = IMAGES.get(pod);
  if (images === undefined) {
    images = volumes.filter((v) => v.image !== undefined).map((v) => v.name);
    IMAGES.set(pod, images);
  }
  return images;
}

/** Names of the image volumes that a container mounts. */
export function mountedBy({ pod }: PodContext, container: string): readonly string[] {
  const images = imagesOf(pod);
  if (images.length === 0) return images;
  const mounts = allContainers(pod).find((c) => c.name === container)?.volumeMounts ?? [];
  return images.filter((name) => mounts.some((mount) => mount.name === name));
}

function lacks(context: PodContext, name: string): boolean {
  return volumeOf(context, name).spec === null;
}

/** What is known of an image volume. */
export function volumeOf({ imageVolumes }: PodContext, name: string): ImageVolume {
  return imageVolumes !== undefined && Object.hasOwn(imageVolumes, name)
    ? (imageVolumes[name] ?? NEW_IMAGE_VOLUME)
    : NEW_IMAGE_VOLUME;
}

/** The runtime's handler for the pod, as its sandbox has it. */
export function handlerOf(context: PodContext): string {
  return newestSandbox(context.observed)?.runtimeHandler ?? '';
}
