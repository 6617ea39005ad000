import type { AskedClaim, ClaimResult } from '../../../machines/claims/claim-messages.ts';
import type { ResourceClaim } from '../../../machines/claims/resource-claim.ts';
import { messageOf } from '../../../machines/values/message-of.ts';

/** A driver of a simulated machine, with what it has there. */
export interface DriverPool {
  driver: string;
  pool: string;
  /** Names of its devices. */
  devices: readonly string[];
}

/**
 * A driver's answer to `NodePrepareResources` for one claim. As real drivers do, it looks in the API which of its devices the scheduler
 * allocated (a request names the claim alone, cri/proto/dra/v1), and names one CDI device for each.
 */
export async function preparedClaim(
  { namespace, name, uid }: AskedClaim,
  { driver, pool, devices }: DriverPool,
  get: (namespace: string, name: string) => Promise<ResourceClaim>,
): Promise<ClaimResult> {
  const refused = (error: string): ClaimResult => ({ uid, error, devices: [] });
  let claim: ResourceClaim;
  try {
    claim = await get(namespace, name);
  } catch (error) {
    return refused(`cannot look up the claim ${namespace}/${name}: ${messageOf(error)}`);
  }
  if (claim.metadata?.uid !== uid) return refused(`the claim ${namespace}/${name} is another one by now`);
  const results = claim.status?.allocation?.devices?.results;
  if (results === undefined) return refused(`the claim ${namespace}/${name} is not allocated`);
  // A claim may have devices of other drivers, too, and a driver devices that lie at other nodes.
  const mine = results.filter((result) => result.driver === driver && result.pool === pool);
  const unknown = mine.find(({ device = '' }) => !devices.includes(device));
  if (unknown !== undefined) return refused(`there is no device ${unknown.device ?? ''} in the pool ${pool}`);
  return {
    ...{ uid, error: '' },
    devices: mine.map(({ device = '', request = '', shareID }) => ({
      ...{ pool, device, share: shareID ?? null },
      // Containers name requests; what stands behind the `/` is which of its alternatives was taken.
      requests: [request.split('/')[0] ?? ''],
      cdi: [cdiName(driver, device)],
    })),
  };
}

/** `gpu.example.com/gpu=gpu-3`: vendor, class and name of a CDI device (CDI specification, "kind"). */
function cdiName(driver: string, device: string): string {
  return `${driver}/${device.slice(0, device.lastIndexOf('-'))}=${device}`;
}
