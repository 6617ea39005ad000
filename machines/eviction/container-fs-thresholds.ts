import { isHard } from './thresholds.ts';
import type { Threshold } from './thresholds.ts';
import type { Signal } from './signals.ts';

/** How the disks of a node lie. */
export interface Disks {
  /** Images are not on the file system of the agent's root folder. */
  imageFs: boolean;
  /** Writable layers of containers are not where the images are. */
  splitFs: boolean;
}

/**
 * Sets the thresholds of containerfs (kubelet's UpdateContainerFsThresholds): nobody configures them; they are those of the
 * file system on which writable layers are, nodefs or imagefs. Without one there that is a threshold that is never met.
 */
export function withContainerFs(thresholds: readonly Threshold[], { imageFs, splitFs }: Disks): Threshold[] {
  // Images apart, and not split: the layers are with the images. Layers apart from images that are on nodefs: kubelet leaves all as it is.
  if (!imageFs && splitFs) return [...thresholds];
  const from = imageFs && !splitFs ? 'imagefs' : 'nodefs';
  const all = [...thresholds];
  for (const what of ['available', 'inodesFree'] as const)
    for (const hard of [true, false]) {
      const signal: Signal = `containerfs.${what}`;
      const is = (each: Threshold, of: Signal): boolean => each.signal === of && isHard(each) === hard;
      const model = thresholds.findLast((each) => is(each, `${from}.${what}`));
      const made: Threshold = { graceMs: 0, value: { share: 0 }, ...model, signal };
      const index = thresholds.findLastIndex((each) => is(each, signal));
      if (index < 0) all.push(made);
      else all[index] = made;
    }
  return all;
}
