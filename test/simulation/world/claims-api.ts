import type { ApiClient } from '../../../actors/cluster/api/api-client.ts';
import type { ResourceClaim } from '../../../machines/claims/resource-claim.ts';
import { DRIVERS, SHARED_CLAIMS } from '../draw/draw-plugins.ts';
import type { Edges } from './edges.ts';
import { hashOf } from './random.ts';

/** UID of a claim. */
export function claimUid(name: string): string {
  return `uid-of-${name}`;
}

/** Drivers that a claim was allocated from. */
export function driversOf(name: string): readonly string[] {
  return SHARED_CLAIMS[name] ?? [DRIVERS[hashOf(name) % DRIVERS.length] ?? DRIVERS[0]];
}

/** The API server's side of ResourceClaims: each is there, is allocated, and may be used by all pods that name it. */
export function withClaims(api: ApiClient, { api: server }: Pick<Edges, 'api'>): ApiClient {
  const claim = (name: string): ResourceClaim => ({
    metadata: { uid: claimUid(name) },
    status: {
      reservedFor: server
        .list()
        .filter(({ spec }) => spec?.resourceClaims?.some((one) => one.resourceClaimName === name))
        .map(({ metadata }) => ({ uid: metadata?.uid ?? '' })),
      allocation: { devices: { results: driversOf(name).map((driver) => ({ driver })) } },
    },
  });
  return {
    ...api,
    request: <T>(request: Parameters<ApiClient['request']>[0]): Promise<T> => {
      if (request.on.resource === 'resourceclaims') return Promise.resolve(claim(request.name ?? '') as T);
      if (request.on.resource === 'resourceslices') return Promise.resolve({} as T);
      return api.request<T>(request);
    },
  };
}
