import type { Draws } from './draws.ts';

/** A container's `securityContext`. */
export function drawnSecurity(d: Draws): Record<string, unknown> {
  const privileged = d.chance(0.08);
  return {
    ...(privileged && { privileged }),
    ...d.maybe(0.3, () => ({ runAsUser: d.one([0, 1000]) })),
    ...d.maybe(0.2, () => ({ runAsGroup: 2000 })),
    ...d.maybe(0.2, () => ({ runAsNonRoot: true })),
    ...d.maybe(0.2, () => ({ readOnlyRootFilesystem: true })),
    ...(!privileged && d.maybe(0.2, () => ({ allowPrivilegeEscalation: false }))),
    ...d.maybe(0.3, () => ({
      capabilities: {
        ...d.maybe(0.6, () => ({ add: d.one([['NET_ADMIN'], ['ALL'], ['CAP_SYS_TIME', 'KILL']]) })),
        ...d.maybe(0.6, () => ({ drop: d.one([['ALL'], ['MKNOD']]) })),
      },
    })),
    ...d.maybe(0.2, () => ({ seccompProfile: drawnProfile(d) })),
    ...d.maybe(0.1, () => ({ seLinuxOptions: { level: 's0:c1,c2' } })),
  };
}

/** A pod's `securityContext`. */
export function drawnPodSecurity(d: Draws): Record<string, unknown> {
  return {
    ...d.maybe(0.3, () => ({ runAsUser: d.one([0, 1500]) })),
    ...d.maybe(0.2, () => ({ runAsGroup: 2500 })),
    ...d.maybe(0.2, () => ({ runAsNonRoot: true })),
    ...d.maybe(0.3, () => ({ fsGroup: 3000, ...d.maybe(0.3, () => ({ fsGroupChangePolicy: 'OnRootMismatch' })) })),
    ...d.maybe(0.2, () => ({
      supplementalGroups: [4000, 4001],
      ...d.maybe(0.4, () => ({ supplementalGroupsPolicy: d.one(['Merge', 'Strict']) })),
    })),
    ...d.maybe(0.2, () => ({ seccompProfile: drawnProfile(d) })),
    ...d.maybe(0.1, () => ({ seLinuxOptions: { level: 's0:c3,c4' } })),
    ...d.maybe(0.1, () => ({
      sysctls: [
        d.one([
          { name: 'net.ipv4.ip_unprivileged_port_start', value: '80' },
          { name: 'net.core.somaxconn', value: '99' },
        ]),
      ],
    })),
  };
}

function drawnProfile(d: Draws): Record<string, unknown> {
  const type = d.one(['RuntimeDefault', 'Unconfined', 'Localhost']);
  return { type, ...(type === 'Localhost' && { localhostProfile: 'profiles/own.json' }) };
}
