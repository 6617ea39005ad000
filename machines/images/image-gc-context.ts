/** When images are collected (`imageGC*Threshold*`, `image*GCAge`). Percentages of the file system of the images. */
export interface ImageGcPolicy {
  readonly highPercent: number;
  readonly lowPercent: number;
  readonly minAgeMs: number;
  /** 0 = no image is too old. */
  readonly maxAgeMs: number;
}

/** An image as the runtime lists it. */
export interface ListedImage {
  readonly id: string;
  /** Of a runtime that keeps images by runtime handler; '' else. */
  readonly handler: string;
  readonly bytes: number;
  readonly pinned: boolean;
}

/** An image that is known, and since when; times are ms since the epoch. */
export interface KnownImage extends ListedImage {
  readonly detectedAt: number;
  /** When it was last seen in use; 0 = never. */
  readonly usedAt: number;
}

/** One pass over the images. */
export interface ImageGcPass {
  /** Everything that is not in use goes (kubelet's DeleteUnusedImages), whatever disk and ages are. */
  readonly all: boolean;
  /** Nothing goes: it is only seen which images are there and in use. */
  readonly look?: true;
  /** When it began. */
  readonly at: number;
  /** Keys of images that may go, in the order in which they do. */
  readonly left: readonly string[];
  /** The image that is being removed. */
  readonly removing: string | null;
  readonly bytesWanted: number;
  readonly bytesFreed: number;
  /** How full the disk was, percent, and its size in bytes; 0 before it was measured. */
  readonly usedPercent: number;
  readonly capacityBytes: number;
  readonly problems: readonly string[];
}

/** The memory of the collector of images; plain JSON. */
export interface ImageGcContext {
  readonly policy: ImageGcPolicy;
  /** When the agent began, ms since the epoch: no image is too old for an agent that is younger than that age. */
  readonly beganAt: number;
  /** By {@link imageKey}. */
  readonly images: Readonly<Record<string, KnownImage>>;
  readonly pass: ImageGcPass | null;
  /** The last pass failed. */
  readonly failed: boolean;
}

/** What reaches the collector. */
export type ImageGcMessage =
  | { type: 'gc.start'; at: number; policy: ImageGcPolicy }
  /** One that comes while a pass is under way is not heard. */
  | { type: 'gc.begin'; at: number; all: boolean; look?: true }
  /** `inUse`: keys, or ids, of images that containers (ended ones, too) were made of or have mounted. */
  | { type: 'images.listed'; at: number; images: readonly ListedImage[]; inUse: readonly string[] }
  | { type: 'disk.measured'; at: number; capacityBytes: number; availableBytes: number }
  | { type: 'image.removed'; at: number }
  /** An image could not be removed. */
  | { type: 'image.kept'; at: number; problem: string }
  /** The runtime or the disk gave no answer. */
  | { type: 'gc.failed'; at: number; problem: string };

/** What the collector has its host do; each of the first three is answered by a message. */
export type ImageGcOrder =
  | { type: 'images.List' }
  | { type: 'disk.Measure' }
  | { type: 'image.Remove'; id: string; handler: string; reason: 'age' | 'space' }
  /** Records of pulls go whose image is not among these, but for those that were written after `until`. */
  | { type: 'records.Prune'; images: readonly string[]; until: number }
  | { type: 'event.Record'; reason: string; message: string }
  /** The pass is over. */
  | { type: 'pass.Done'; all: boolean; problem: string | null; bytesFreed: number };

/** The key of an image: two runtime handlers may have one of the same id. */
export function imageKey({ id, handler }: { id: string; handler: string }): string {
  return handler === '' ? id : `${id},${handler}`;
}

/** Before anything happened. */
export function initialImageGc(): ImageGcContext {
  const policy = { highPercent: 100, lowPercent: 100, minAgeMs: 0, maxAgeMs: 0 };
  return { policy, beganAt: 0, images: {}, pass: null, failed: false };
}
