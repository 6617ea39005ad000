import type { Pod } from '../protocol/api-types.ts';
import type { NeededVolume } from './volume-context.ts';
import { volumeKind } from './volume-context.ts';
import { mountedVolumes } from './volume-setups.ts';

const NEEDED = new WeakMap<Pod, readonly NeededVolume[]>();
const NONE: readonly NeededVolume[] = [];

/** The volumes that a container of the pod mounts, in the order of the spec; made once for each definition. */
export function neededVolumes(pod: Pod): readonly NeededVolume[] {
  const volumes = pod.spec?.volumes;
  if (volumes === undefined || volumes.length === 0) return NONE;
  let needed = NEEDED.get(pod);
  if (needed === undefined) {
    const used = mountedVolumes(pod);
    needed = volumes
      // The runtime mounts images: nothing of them is set up on the node.
      .filter(({ name, image }) => used.has(name) && image === undefined)
      .map((volume) => ({ name: volume.name, kind: volumeKind(volume) }));
    NEEDED.set(pod, needed);
  }
  return needed;
}

/** The volume that a message of event `FailedMount` names, '' when it names none. */
export function failedVolume(message: string): string {
  return /^MountVolume\.SetUp failed for volume "([^"]+)"/.exec(message)?.[1] ?? '';
}
