import type { FetchedClaim } from '../../../machines/claims/claim-messages.ts';
import { namedClaims } from '../../../machines/claims/pod-claims.ts';
import type { ResourceClaim } from '../../../machines/claims/resource-claim.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { messageOf } from '../../../machines/values/message-of.ts';

/** Looks the pod's claims up, one after the other as kubelet does; the first that cannot be had is the last one. */
export async function fetchedClaims(
  pod: Pod,
  extended: boolean,
  get: (namespace: string, name: string) => Promise<ResourceClaim>,
): Promise<FetchedClaim[]> {
  const found: FetchedClaim[] = [];
  for (const claim of namedClaims(pod, extended)) {
    if ('problem' in claim) return [...found, { problem: claim.problem }];
    const { name, ofPod } = claim;
    if (name === null) continue;
    try {
      found.push(fetched(name, ofPod, await get(pod.metadata?.namespace ?? '', name)));
    } catch (error) {
      return [...found, { problem: `fetch ResourceClaim ${name}: ${messageOf(error)}` }];
    }
  }
  return found;
}

function fetched(name: string, ofPod: boolean, { metadata, status }: ResourceClaim): FetchedClaim {
  const results = status?.allocation === undefined ? null : (status.allocation.devices?.results ?? []);
  return {
    ...{ name, ofPod, uid: metadata?.uid ?? '' },
    controller: metadata?.ownerReferences?.find(({ controller }) => controller === true)?.uid ?? null,
    reservedFor: (status?.reservedFor ?? []).map(({ uid = '' }) => uid),
    drivers: results && [...new Set(results.map(({ driver = '' }) => driver))].sort(),
  };
}
