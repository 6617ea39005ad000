import { z } from 'zod';
import { duration, int32, int64, textMap, truth } from '../field-kinds.ts';

/** What kubelet takes for `evictionHard` when a configuration file does not set it (Linux). */
export const DEFAULT_EVICTION_HARD: Readonly<Record<string, string>> = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

/** Eviction and graceful shutdown of the node. */
export const evictionFields = {
  evictionHard: textMap(),
  evictionSoft: textMap(),
  evictionSoftGracePeriod: textMap(),
  evictionPressureTransitionPeriod: duration(300_000),
  evictionMaxPodGracePeriod: int32(0),
  evictionMinimumReclaim: textMap(),
  mergeDefaultEvictionSettings: truth(false),
  kernelMemcgNotification: truth(false),
  shutdownGracePeriod: duration(0),
  shutdownGracePeriodCriticalPods: duration(0),
  shutdownGracePeriodByPodPriority: z
    .array(
      z.strictObject(
        { priority: int32(0), shutdownGracePeriodSeconds: int64(0) },
        { error: 'an entry: priority, shutdownGracePeriodSeconds' },
      ),
      { error: 'a list of entries: priority, shutdownGracePeriodSeconds' },
    )
    .default([]),
};
