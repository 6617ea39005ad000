import { hostPort } from '../values/host-port.ts';
import type { EnvEntry } from '../protocol/cri-shapes.ts';

/** What a service's variables are made of: the rest of a `v1.Service` is not kept. */
export interface ServiceView {
  namespace: string;
  name: string;
  /** `spec.clusterIP`; `None` and '' have no variables. */
  clusterIP: string;
  ports: { name: string; port: number; protocol: string }[];
}

/** Services of namespace `default` that every pod sees, whatever `enableServiceLinks` says. */
const MASTER_SERVICES = new Set(['kubernetes']);

/** True for a service with an address of its own (neither headless nor ExternalName). */
export function hasClusterIP(service: ServiceView): boolean {
  return service.clusterIP !== '' && service.clusterIP !== 'None';
}

/**
 * Variables that tell a container of `namespace` where services are, in the style of Docker links
 * (`WEB_SERVICE_HOST`, `WEB_PORT_80_TCP_ADDR` ...). Services come in the order of their names, each variable once:
 * kubelet's order is that of a Go map, so any fixed one does. A service of the pod's own namespace hides the master
 * service of the same name.
 */
export function serviceEnv(
  services: Iterable<ServiceView>,
  namespace: string,
  enableServiceLinks: boolean,
): EnvEntry[] {
  const seen = new Map<string, ServiceView>();
  for (const service of services) {
    if (!hasClusterIP(service)) continue;
    const own = service.namespace === namespace;
    if (service.namespace === 'default' && MASTER_SERVICES.has(service.name)) {
      if (own || !seen.has(service.name)) seen.set(service.name, service);
    } else if (own && enableServiceLinks) {
      seen.set(service.name, service);
    }
  }
  const values = new Map<string, string>();
  for (const name of [...seen.keys()].sort()) {
    const service = seen.get(name);
    if (service !== undefined) for (const { key, value } of variablesOf(service)) values.set(key, value);
  }
  return [...values].map(([key, value]) => ({ key, value }));
}

function variablesOf({ name, clusterIP, ports }: ServiceView): EnvEntry[] {
  const prefix = variableName(name);
  const out: EnvEntry[] = [{ key: `${prefix}_SERVICE_HOST`, value: clusterIP }];
  const [first] = ports;
  if (first === undefined) return out;
  out.push({ key: `${prefix}_SERVICE_PORT`, value: String(first.port) });
  for (const port of ports) {
    if (port.name !== '')
      out.push({ key: `${prefix}_SERVICE_PORT_${variableName(port.name)}`, value: String(port.port) });
  }
  for (const [index, { port, protocol }] of ports.entries()) {
    const scheme = (protocol || 'TCP').toLowerCase();
    const url = `${scheme}://${hostPort(clusterIP, port)}`;
    const link = `${prefix}_PORT_${port}_${scheme.toUpperCase()}`;
    if (index === 0) out.push({ key: `${prefix}_PORT`, value: url });
    out.push(
      { key: link, value: url },
      { key: `${link}_PROTO`, value: scheme },
      { key: `${link}_PORT`, value: String(port) },
      { key: `${link}_ADDR`, value: clusterIP },
    );
  }
  return out;
}

function variableName(name: string): string {
  return name.replaceAll('-', '_').toUpperCase();
}
