import type { Pod } from '../protocol/api-types.ts';
import type { VolumeTraits } from '../protocol/volume-traits.ts';

const LONGEST = 2n ** 63n;

/**
 * Groups that a pod's volumes belong to, and that it does not name itself (kubelet: GetExtraSupplementalGroupsForPod); what is no number counts for
 * nothing. One that is the pod's `fsGroup`, too, is there twice, as with kubelet.
 */
export function extraGroups(pod: Pod, traits: VolumeTraits | undefined): string[] {
  const own = new Set((pod.spec?.securityContext?.supplementalGroups ?? []).map(String));
  const groups: string[] = [];
  for (const text of traits?.groups ?? []) {
    if (!/^[+-]?[0-9]{1,30}$/.test(text)) continue;
    const gid = BigInt(text.replace(/^\+/, ''));
    if (gid < -LONGEST || gid >= LONGEST || own.has(String(gid))) continue;
    groups.push(String(gid));
  }
  return groups;
}
