import type { Container, Pod } from '../protocol/api-types.ts';
import type { DeviceOptions } from '../protocol/device-options.ts';
import { isExtendedResource } from '../values/extended-resource.ts';
import { parseQuantity } from '../values/quantity.ts';
import { claimKey } from './claim-state.ts';
import type { ClaimDevice, ClaimState, KnownClaim } from './claim-state.ts';
import { extendedClaim, namedClaims } from './pod-claims.ts';

/** Names by which device classes stand for extended resources (ResourceDeviceClassPrefix). */
const CLASS_PREFIX = 'deviceclass.resource.kubernetes.io/';

/** Does the container use a claim of its pod? */
export function usesClaims(pod: Pod, { name, resources }: Container): boolean {
  if ((resources?.claims?.length ?? 0) > 0) return true;
  return extendedClaim(pod)?.requestMappings.some(({ containerName }) => containerName === name) ?? false;
}

/**
 * Names of CDI devices that a container gets of its pod's claims (kubelet: GetResources), in the order of the pod's claims.
 * @throws Error with kubelet's words when a claim is not known
 */
export function cdiDevicesOf(state: ClaimState, pod: Pod, container: Container, extended: boolean): string[] {
  const { namespace = '' } = pod.metadata ?? {};
  const names = uses(pod, container).flatMap(({ claim, request }) => {
    const known = state.claims[claimKey(namespace, claim)];
    if (known === undefined) throw new Error(`internal error: unable to get claim info for ResourceClaim ${claim}`);
    return cdiOf(known, request);
  });
  const own = extended ? extendedClaim(pod) : null;
  if (own === null) return names;
  const known = state.claims[claimKey(namespace, own.resourceClaimName)];
  if (known === undefined)
    throw new Error(`unable to get claim info for claim ${own.resourceClaimName} in namespace ${namespace}`);
  for (const resource of extendedRequests(container))
    for (const { containerName, resourceName, requestName } of own.requestMappings)
      if (containerName === container.name && resourceName === resource) names.push(...cdiOf(known, requestName));
  return names;
}

/** Claims that a container uses; those that are not known are left out. */
export function claimsOfContainer(state: ClaimState, pod: Pod, container: Container, extended: boolean): KnownClaim[] {
  return claimsUsed(state, pod, container, extended).filter((claim) => claim !== undefined);
}

/** The same; none where one of them is not known (kubelet: GetContainerClaimInfos): a pod that has ended may have given that one back already. */
export function allClaimsOfContainer(...asked: Parameters<typeof claimsOfContainer>): KnownClaim[] {
  const claims = claimsUsed(...asked);
  const known = claims.filter((claim) => claim !== undefined);
  return known.length === claims.length ? known : [];
}

function claimsUsed(state: ClaimState, pod: Pod, container: Container, extended: boolean): (KnownClaim | undefined)[] {
  const names = uses(pod, container).map(({ claim }) => claim);
  const own = extended ? extendedClaim(pod) : null;
  if (own?.requestMappings.some(({ containerName }) => containerName === container.name))
    names.push(own.resourceClaimName);
  return names.map((name) => state.claims[claimKey(pod.metadata?.namespace ?? '', name)]);
}

/** What of the pod's claims the container names. @throws Error when a claim has no name yet */
function uses(pod: Pod, { resources }: Container): { claim: string; request: string }[] {
  return namedClaims(pod, false).flatMap((named) => {
    if ('problem' in named) throw new Error(named.problem);
    const { name: claim, podClaim } = named;
    if (claim === null) return [];
    return (resources?.claims ?? []).flatMap(({ name, request = '' }) =>
      name === podClaim ? [{ claim, request }] : [],
    );
  });
}

function extendedRequests({ resources }: Container): string[] {
  return Object.entries({ ...resources?.limits, ...resources?.requests }).flatMap(([name, quantity]) =>
    (isExtendedResource(name) || name.startsWith(CLASS_PREFIX)) && (parseQuantity(String(quantity)) ?? 0n) > 0n
      ? [name]
      : [],
  );
}

function cdiOf({ drivers }: KnownClaim, request: string): string[] {
  return Object.values(drivers).flatMap((devices) =>
    devices.flatMap((device) => (isFor(device, request) ? [...device.cdi] : [])),
  );
}

/** A device without names of requests is for all of them; so is whoever names no request. */
export function isFor({ requests }: Pick<ClaimDevice, 'requests'>, request: string): boolean {
  return request === '' || requests.length === 0 || requests.includes(request);
}

/** What a container gets of its devices, with the CDI devices of its claims first. */
export function withClaims(cdi: readonly string[], options: DeviceOptions | null): DeviceOptions | null {
  if (cdi.length === 0) return options;
  const { envs = [], mounts = [], devices = [], annotations = {}, cdiDevices = [] } = options ?? {};
  return { envs, mounts, devices, annotations, cdiDevices: [...cdi.map((name) => ({ name })), ...cdiDevices] };
}
