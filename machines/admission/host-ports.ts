import type { Pod } from '../protocol/api-types.ts';
import { isSidecar } from '../qos/pod-resources.ts';

/** A port of the node that a pod takes. */
export interface HostPort {
  /** `0.0.0.0` for all addresses. */
  ip: string;
  /** Protocol and port, `TCP/80`. */
  port: string;
}

const ALL = '0.0.0.0';

/** Ports that a pod takes for its whole life: of its containers and sidecars, not of init containers that end. */
export function hostPorts(pod: Pod): HostPort[] {
  const ports: HostPort[] = [];
  for (const container of [...(pod.spec?.initContainers ?? []).filter(isSidecar), ...(pod.spec?.containers ?? [])]) {
    for (const { hostIP, hostPort, protocol } of container.ports ?? []) {
      if (hostPort) ports.push({ ip: hostIP || ALL, port: `${protocol || 'TCP'}/${hostPort}` });
    }
  }
  return ports;
}

/** Do two ports exclude each other? */
export function portsConflict(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && (a.ip === b.ip || a.ip === ALL || b.ip === ALL);
}
