import { entryOf } from '../values/entry-of.ts';
import type { Pod } from '../protocol/api-types.ts';
import type { SandboxConfig } from '../protocol/cri-shapes.ts';
import { isIPv6 } from './pod-ips.ts';

const PROTOCOLS: Record<string, 0 | 1 | 2> = { TCP: 0, UDP: 1, SCTP: 2 };

/** The ports of the regular containers; one that repeats within a container (by name, or by all its values) counts once. */
export function portMappings(pod: Pod): SandboxConfig['portMappings'] {
  const out: SandboxConfig['portMappings'] = [];
  for (const container of pod.spec?.containers ?? []) {
    const seen = new Set<string>();
    for (const { name, containerPort, hostPort = 0, hostIP = '', protocol = 'TCP' } of container.ports ?? []) {
      const family = hostIP === '' ? 'any' : isIPv6(hostIP) ? 'v6' : 'v4';
      const key = name || `${family}-${protocol}-${hostIP}:${containerPort}:${hostPort}`;
      if (seen.has(key)) continue;
      seen.add(key);
      out.push({ protocol: entryOf(PROTOCOLS, protocol) ?? 0, containerPort, hostPort, hostIp: hostIP });
    }
  }
  return out;
}
