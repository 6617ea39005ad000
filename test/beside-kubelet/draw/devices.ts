import type { Draws } from './draws.ts';
import type { DrawnPod } from './pod.ts';

/**
 * Resources of the side's device plugins, and one that nobody has. `plain` has plenty of devices, those of `sick` are not well,
 * `refusing` gives out none, `unready` fails before a container starts.
 */
const DEVICE_RESOURCES = ['plain', 'sick', 'refusing', 'unready', 'nobodys'].map((name) => `example.com/${name}`);

/**
 * Claims of each side's namespace: `good` and `other` are allocated on a driver that works, `refused` on one that prepares nothing,
 * `driverless` on one that is not there; `unallocated` waits for its allocation, and `absent` does not exist.
 */
export const CLAIMS = ['good', 'other', 'refused', 'driverless', 'unallocated', 'absent'] as const;
/** Name of the request that each of the claims has. */
export const CLAIM_REQUEST = 'one';

/** Devices, and now and then a profile of AppArmor, for a drawn pod: made from it with draws of its own. */
export function withDevices(d: Draws, pod: DrawnPod): DrawnPod {
  const claims = d.chance(0.2) ? [d.one(['good', 'good', 'good', ...CLAIMS]), ...d.some(['other'], 0.3)] : [];
  const named = [...new Set(claims)].map((claim) => ({ name: `of-${claim}`, resourceClaimName: claim }));
  const containers = (pod.spec['containers'] as DrawnContainer[]).map((container) => withOwn(d, container, named));
  const inits = (pod.spec['initContainers'] ?? []) as DrawnContainer[];
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...(inits.length > 0 && { initContainers: inits.map((container) => withOwn(d, container, [])) }),
      containers,
      ...(named.length > 0 && { resourceClaims: named }),
    },
  };
}

interface DrawnContainer {
  resources?: { requests?: object; limits?: object };
  securityContext?: object;
}

function withOwn(d: Draws, container: DrawnContainer, claims: readonly { name: string }[]): DrawnContainer {
  const resource = d.one(['example.com/plain', 'example.com/plain', ...DEVICE_RESOURCES]);
  const device = d.chance(0.2) ? { [resource]: String(d.between(1, 2)) } : {};
  const used = d.some(claims, 0.8).map(({ name }) => ({ name, ...d.maybe(0.3, () => ({ request: CLAIM_REQUEST })) }));
  const profile = d.chance(0.03) ? d.one([{ type: 'RuntimeDefault' }, { type: 'Unconfined' }, LOCAL_PROFILE]) : null;
  const { resources, securityContext, ...rest } = container;
  return {
    ...rest,
    resources: {
      ...resources,
      limits: { ...resources?.limits, ...device },
      ...(used.length > 0 && { claims: used }),
    },
    ...((securityContext !== undefined || profile !== null) && {
      securityContext: { ...securityContext, ...(profile !== null && { appArmorProfile: profile }) },
    }),
  };
}

const LOCAL_PROFILE = { type: 'Localhost', localhostProfile: 'own-profile' };
