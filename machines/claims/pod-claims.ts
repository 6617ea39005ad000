import { goQuote } from '../values/go-quote.ts';
import type { Pod } from '../protocol/api-types.ts';

/** A claim of a pod by the name of its object, or why there is none, in kubelet's words. */
export type NamedClaim =
  | {
      /** Name in the pod; '' for that of its extended resources. */
      podClaim: string;
      /** Name of the ResourceClaim; null: none was made, on purpose. */
      name: string | null;
      /** It was made for this pod alone. */
      ofPod: boolean;
    }
  | { podClaim: string; problem: string };

/** The claim of a pod's extended resources, which the scheduler made (KEP-5004). */
export interface ExtendedClaim {
  resourceClaimName: string;
  requestMappings: readonly { containerName: string; resourceName: string; requestName: string }[];
}

/** What the API says of the pod's extended resources that drivers give. */
export function extendedClaim({ status }: Pod): ExtendedClaim | null {
  return status?.extendedResourceClaimStatus ?? null;
}

/** Does the pod name claims, or has the scheduler made one for it? */
export function hasClaims(pod: Pod): boolean {
  return (pod.spec?.resourceClaims?.length ?? 0) > 0 || extendedClaim(pod) !== null;
}

/** Which ResourceClaims the pod's claims are (kubelet: `resourceclaim.Name`). `extended`: gate DRAExtendedResource. */
export function namedClaims(pod: Pod, extended: boolean): NamedClaim[] {
  const { namespace = '', name: podName = '' } = pod.metadata ?? {};
  const named = (pod.spec?.resourceClaims ?? []).map((claim): NamedClaim => {
    const podClaim = claim.name;
    if (claim.resourceClaimName !== undefined) return { podClaim, name: claim.resourceClaimName, ofPod: false };
    if (claim.resourceClaimTemplateName === undefined) {
      const where = `pod "${namespace}/${podName}", spec.resourceClaim ${goQuote(podClaim)}`;
      return { podClaim, problem: `${where}: none of the supported fields are set` };
    }
    const told = pod.status?.resourceClaimStatuses?.find(({ name }) => name === podClaim);
    if (told === undefined)
      return { podClaim, problem: `pod "${namespace}/${podName}": ResourceClaim not created yet` };
    return { podClaim, name: told.resourceClaimName ?? null, ofPod: true };
  });
  const own = extended ? extendedClaim(pod) : null;
  return own === null ? named : [...named, { podClaim: '', name: own.resourceClaimName, ofPod: false }];
}
