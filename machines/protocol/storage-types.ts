import type { V1PersistentVolume, V1PersistentVolumeClaim } from '@kubernetes/client-node';
import type { Plain } from './api-types.ts';

/** A `v1.PersistentVolume` as plain JSON. */
export type PersistentVolume = Plain<V1PersistentVolume>;
/** A `v1.PersistentVolumeClaim` as plain JSON. */
export type PersistentVolumeClaim = Plain<V1PersistentVolumeClaim>;
