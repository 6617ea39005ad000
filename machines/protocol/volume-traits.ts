/** What containers must know of a pod's volumes beside where they are; each is absent where there is nothing to know. */
export interface VolumeTraits {
  /** Groups to which volumes belong, as their PVs are annotated; each once, in order. */
  groups?: string[];
  /** Volumes that get the pod's SELinux label from the runtime, as their plugins say; by name, in order. */
  relabelled?: string[];
}

/** The same of one volume, with where it is. */
export interface MountedVolume {
  path: string;
  /** As its PV is annotated. */
  group?: string;
  relabel?: true;
}

/** What is to be known of all of them together, by their names; undefined when that is nothing. */
export function traitsOf(volumes: Readonly<Record<string, MountedVolume>>): VolumeTraits | undefined {
  const groups = new Set<string>();
  const relabelled: string[] = [];
  for (const [name, { group = '', relabel }] of Object.entries(volumes)) {
    if (group !== '') groups.add(group);
    if (relabel) relabelled.push(name);
  }
  if (groups.size === 0 && relabelled.length === 0) return undefined;
  return {
    ...(groups.size > 0 && { groups: [...groups].sort() }),
    ...(relabelled.length > 0 && { relabelled: relabelled.sort() }),
  };
}
