/** What containers must know of a pod's volumes beside where they are; each is absent where there is nothing to know. */
export interface VolumeTraits {
  /** Groups to which volumes belong, as their PVs are annotated; each once, in order. */
  groups?: string[];
}

/** The same of one volume, with where it is. */
export interface MountedVolume {
  path: string;
  /** As its PV is annotated. */
  group?: string;
}

/** What is to be known of all of them together; undefined when that is nothing. */
export function traitsOf(volumes: readonly MountedVolume[]): VolumeTraits | undefined {
  const groups = [...new Set(volumes.flatMap(({ group = '' }) => (group === '' ? [] : [group])))].sort();
  return groups.length === 0 ? undefined : { groups };
}
