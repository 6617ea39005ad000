import type { Pod, Volume } from '../protocol/api-types.ts';

/** The claim that a volume of a pod is of: the one that it names, or the one that is made for it. Null when it is of none. */
export function claimNameOf(pod: Pod, { name, persistentVolumeClaim, ephemeral }: Volume): string | null {
  if (persistentVolumeClaim) return persistentVolumeClaim.claimName;
  return ephemeral ? `${pod.metadata?.name ?? ''}-${name}` : null;
}
