import type { BackOffEntry } from '../container/back-off.ts';
import type { CriImageSpec } from '../protocol/cri-shapes.ts';

/**
 * Image volumes (KEP-4639, `volumes[].image`): the pod has their images pulled as those of its containers, beside the
 * sandbox; only containers that mount one wait for it. The runtime mounts it, so nothing of it lies on the node.
 */
export interface ImageVolume {
  /** The image, once it is there. */
  spec: CriImageSpec | null;
  /** Why it is not, as `state.waiting` of the containers that mount it says. */
  waiting: { reason: string; message: string } | null;
  backOff: (BackOffEntry & { error: string }) | null;
}

/** One for which nothing was done yet. */
export const NEW_IMAGE_VOLUME: ImageVolume = { spec: null, waiting: null, backOff: null };
