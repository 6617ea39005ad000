import type { Pod } from '../protocol/api-types.ts';

/** A volume machine's memory; plain JSON. */
export interface VolumeContext {
  /** As in `spec.volumes`. */
  name: string;
  /** Field of the volume's source, e.g. `configMap`; `emptyDir` without one. */
  kind: string;
  /** Key of the effect under way, '' when there is none. */
  op: string;
  /** Where it is on the node, '' while that is not known. */
  path: string;
  /** Failures in a row. */
  failures: number;
  /** What the last failure said, '' after a success. */
  error: string;
  /** When the next try is due, ms since the epoch; null when none is, or only a new definition helps. */
  retryAt: number | null;
  /** When it was last set up, ms since the epoch; 0 = never. */
  mountedAt: number;
}

/** What its pod tells a volume. `at`: ms since the epoch. */
export type VolumeEvent =
  /** SetUp is asked for, the first time or again. */
  | { type: 'setUp'; at: number; key: string }
  /** SetUp, or taking it down, succeeded; `path` is '' when only that is known. `key`: of the effect. */
  | { type: 'done'; at: number; key: string; path: string }
  /** SetUp, or taking it down, failed. */
  | { type: 'failed'; at: number; key: string; error: string; retryAt: number | null }
  /** SetUp of the pod's volumes ended with the failure of another one: this one may be there or not. */
  | { type: 'undecided'; at: number; key: string }
  /** The definition cannot be set up; nothing is tried until it changes. */
  | { type: 'refused'; at: number; error: string }
  /** The definition changed, or a failure was forgotten: SetUp is to be asked for anew. */
  | { type: 'forgotten'; at: number }
  /** An object that the volume shows has changed. */
  | { type: 'changed'; at: number }
  | { type: 'tearDown'; at: number; key: string };

/** A volume that a pod needs. */
export interface NeededVolume {
  name: string;
  kind: string;
}

/** A volume machine's context before anything happened. */
export function initialVolume({ name, kind }: NeededVolume): VolumeContext {
  return { name, kind, op: '', path: '', failures: 0, error: '', retryAt: null, mountedAt: 0 };
}

/** Kinds whose content comes from objects of the API, which change. */
const OF_OBJECTS: ReadonlySet<string> = new Set(['configMap', 'secret', 'projected']);

/** Whether `changed` concerns a volume of this kind. */
export function showsObjects(kind: string): boolean {
  return OF_OBJECTS.has(kind);
}

/** Field of the source of a volume of the spec. */
export function volumeKind(volume: NonNullable<NonNullable<Pod['spec']>['volumes']>[number]): string {
  const fields = Object.entries(volume).filter(([field, value]) => field !== 'name' && value !== undefined);
  return fields[0]?.[0] ?? 'emptyDir';
}
