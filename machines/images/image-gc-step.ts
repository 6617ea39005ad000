import type { Decision } from '../machine-step/act.ts';
import type { ImageGcContext, ImageGcMessage, ImageGcOrder, ImageGcPass, KnownImage } from './image-gc-context.ts';
import { imageKey } from './image-gc-context.ts';
import { aggregate } from '../values/aggregate.ts';
import { goDuration } from '../values/go-duration.ts';
import { spokenSize } from './spoken-size.ts';

type Of<T extends ImageGcMessage['type']> = Extract<ImageGcMessage, { type: T }>;
type Step = Decision<ImageGcContext, ImageGcOrder>;

/** The agent begins. */
export function begun(_context: ImageGcContext, { at, policy }: Of<'gc.start'>): Step {
  return { patch: { policy, beganAt: at } };
}

/** A pass begins: what is there? */
export function list(_context: ImageGcContext, { at, all, look }: Of<'gc.begin'>): Step {
  return { patch: { pass: { ...newPass(at, all), ...(look && { look }) } }, effects: [{ type: 'images.List' }] };
}

/** Takes the list in, and puts what may go in order: least recently used first, then the oldest (kubelet imagesInEvictionOrder). */
export function take({ images: before, pass }: ImageGcContext, message: Of<'images.listed'>): Step {
  if (pass === null) return {};
  const used = new Set(message.inUse);
  const images: Record<string, KnownImage> = {};
  const idle: string[] = [];
  for (const listed of message.images) {
    const key = imageKey(listed);
    const inUse = used.has(key) || used.has(listed.id);
    const known = before[key];
    const usedAt = inUse ? message.at : (known?.usedAt ?? 0);
    images[key] = { ...listed, detectedAt: known?.detectedAt ?? pass.at, usedAt };
    if (!inUse && !listed.pinned) idle.push(key);
  }
  const order = (key: string) => images[key] as KnownImage;
  idle.sort((a, b) => order(a).usedAt - order(b).usedAt || order(a).detectedAt - order(b).detectedAt);
  return { patch: { images, pass: { ...pass, left: idle } } };
}

/** As {@link take}, and that is all: what was seen counts when a disk is short. */
export function look(context: ImageGcContext, message: Of<'images.listed'>): Step {
  const { patch } = take(context, message);
  const { effects, patch: ended } = end(context, null);
  return { patch: { ...patch, ...ended }, ...(effects && { effects }) };
}

/** Is there an image that is too old? Not before the agent itself has lived as long: it knows of no use before its own time. */
export function nextTooOld({ policy, beganAt, images, pass }: ImageGcContext): string | undefined {
  if (pass === null || policy.maxAgeMs === 0 || pass.at - beganAt <= policy.maxAgeMs) return undefined;
  return pass.left.find((key) => pass.at - (images[key]?.usedAt ?? 0) > policy.maxAgeMs);
}

/** Is there an image to remove for room, and room still wanted? */
export function nextForRoom({ policy, images, pass }: ImageGcContext): string | undefined {
  if (pass === null || pass.bytesFreed >= pass.bytesWanted) return undefined;
  return pass.left.find((key) => {
    const image = images[key];
    return image !== undefined && image.usedAt < pass.at && pass.at - image.detectedAt >= policy.minAgeMs;
  });
}

/** Removes one more image. */
export function remove(context: ImageGcContext, key: string | undefined, reason: 'age' | 'space'): Step {
  const { images, pass } = context;
  const image = key === undefined ? undefined : images[key];
  if (pass === null || key === undefined || image === undefined) return {};
  return {
    // One that cannot be removed is not tried a second time in this pass.
    patch: { pass: { ...pass, removing: key, left: pass.left.filter((other) => other !== key) } },
    effects: [{ type: 'image.Remove', id: image.id, handler: image.handler, reason }],
  };
}

/** An image is gone. */
export function removed({ images, pass }: ImageGcContext): Step {
  if (pass?.removing == null) return {};
  const { [pass.removing]: image, ...others } = images;
  const bytesFreed = pass.bytesFreed + (image?.bytes ?? 0);
  return { patch: { images: others, pass: { ...pass, removing: null, bytesFreed } } };
}

/** An image could not be removed: the others are tried all the same. */
export function kept({ pass }: ImageGcContext, { problem }: Of<'image.kept'>): Step {
  if (pass === null) return {};
  return { patch: { pass: { ...pass, removing: null, problems: [...pass.problems, problem] } } };
}

/** What went for its age is over: what it freed does not count for room. */
export function measure({ pass }: ImageGcContext): Step {
  if (pass === null) return {};
  return { patch: { pass: { ...pass, bytesFreed: 0 } }, effects: [{ type: 'disk.Measure' }] };
}

/** How much is to go: nothing below the high threshold, above it all that is over the low one. */
export function weigh({ policy, pass }: ImageGcContext, message: Of<'disk.measured'>): Step {
  if (pass === null) return {};
  const { capacityBytes } = message;
  const availableBytes = Math.min(message.availableBytes, capacityBytes);
  const usedPercent = 100 - Math.floor((availableBytes * 100) / capacityBytes);
  const tooFull = usedPercent >= policy.highPercent;
  const bytesWanted = tooFull ? Math.floor((capacityBytes * (100 - policy.lowPercent)) / 100) - availableBytes : 0;
  return { patch: { pass: { ...pass, capacityBytes, usedPercent, bytesWanted } } };
}

/** As {@link take}: all that is not in use is to go. */
export function takeAll(context: ImageGcContext, message: Of<'images.listed'>): Step {
  const { patch } = take(context, message);
  return patch?.pass == null
    ? {}
    : { patch: { ...patch, pass: { ...patch.pass, bytesWanted: Number.MAX_SAFE_INTEGER } } };
}

/** The pass ends: was it enough? */
export function conclude(context: ImageGcContext): Step {
  const { images, pass } = context;
  if (pass === null) return {};
  const { all, at, bytesFreed, bytesWanted, problems, usedPercent, capacityBytes } = pass;
  if (problems.length > 0) {
    const errors = aggregate(problems);
    const { maxAgeMs } = context.policy;
    const old = `wanted to free images older than ${goDuration(maxAgeMs)}, encountered errors in image deletion: ${errors}`;
    const room = `wanted to free ${bytesWanted} bytes, but freed ${bytesFreed} bytes space with errors in image deletion: ${errors}`;
    return end(context, bytesWanted === 0 ? old : room);
  }
  // Kubelet names only those here that it looked at and left, and so forgets the records of images in use.
  const prune: ImageGcOrder = { type: 'records.Prune', images: Object.values(images).map(({ id }) => id), until: at };
  const sought = bytesWanted > 0 ? [prune] : [];
  if (all || bytesFreed >= bytesWanted) return end(context, null, sought);
  const message =
    `Insufficient free disk space on the node's image filesystem (${usedPercent}% of ${spokenSize(capacityBytes)} used). ` +
    `Failed to free sufficient space by deleting unused images (freed ${bytesFreed} bytes). ` +
    'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.';
  return end(context, message, [...sought, { type: 'event.Record', reason: 'FreeDiskSpaceFailed', message }]);
}

/** The runtime or the disk did not answer. */
export function fail(context: ImageGcContext, { problem }: Of<'gc.failed'>): Step {
  return end(context, problem);
}

/** A file system of no size. */
export function noDisk(context: ImageGcContext): Step {
  const message = 'invalid capacity 0 on image filesystem';
  return end(context, message, [{ type: 'event.Record', reason: 'InvalidDiskCapacity', message }]);
}

/** The first failure may only mean that nothing is there yet; from the second in a row on an event says so. */
function end(context: ImageGcContext, problem: string | null, before: readonly ImageGcOrder[] = []): Step {
  const { pass, failed } = context;
  if (pass === null) return {};
  const again: ImageGcOrder[] =
    problem !== null && failed && !pass.all && !pass.look
      ? [{ type: 'event.Record', reason: 'ImageGCFailed', message: problem }]
      : [];
  const done: ImageGcOrder = { type: 'pass.Done', all: pass.all, problem, bytesFreed: pass.bytesFreed };
  return {
    patch: { failed: pass.all || pass.look ? failed : problem !== null, pass: null },
    effects: [...before, ...again, done],
  };
}

function newPass(at: number, all: boolean): ImageGcPass {
  return {
    ...{ all, at, left: [], removing: null, bytesWanted: 0, bytesFreed: 0 },
    ...{ usedPercent: 0, capacityBytes: 0, problems: [] },
  };
}
