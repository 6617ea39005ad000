import type { ResourceClaim } from '../../../machines/claims/resource-claim.ts';
import type { ApiClient } from '../api/api-client.ts';

/** What of dynamic resource allocation (KEP-4381) stands in the API. */
export class ResourceClaims {
  private readonly api: Pick<ApiClient, 'request'>;
  private readonly nodeName: string;

  constructor(api: Pick<ApiClient, 'request'>, nodeName: string) {
    this.api = api;
    this.nodeName = nodeName;
  }

  /** The claim as it is this moment. Rejects with ApiStatusError. */
  get(namespace: string, name: string): Promise<ResourceClaim> {
    const on = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceclaims', namespace };
    return this.api.request<ResourceClaim>({ method: 'GET', on, name });
  }

  /** Removes the node's ResourceSlices, of one driver or of all. Rejects with ApiStatusError. */
  async wipeSlices(driver: string | null): Promise<void> {
    const on = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceslices' };
    const ofDriver = driver === null ? '' : `spec.driver=${driver},`;
    await this.api.request({
      ...{ method: 'DELETE', on },
      query: { fieldSelector: `${ofDriver}spec.nodeName=${this.nodeName}` },
    });
  }
}
