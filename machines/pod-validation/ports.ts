import type { Container } from '../protocol/api-types.ts';
import { named, portName, portNumber } from './names.ts';
import { duplicate, invalid, notSupported, type Problems, required } from './problem.ts';

/** `ports` of a container. */
export function* portsOf(path: string, container: Container): Problems {
  const names = new Set<string>();
  for (const [i, port] of (container.ports ?? []).entries()) {
    const at = `${path}.ports[${i}]`;
    if (port.name) {
      if (names.has(port.name)) yield duplicate(`${at}.name`, port.name);
      names.add(port.name);
      yield* named(`${at}.name`, port.name, portName);
    }
    if (!port.containerPort) yield required(`${at}.containerPort`);
    else
      for (const rule of portNumber(port.containerPort)) yield invalid(`${at}.containerPort`, port.containerPort, rule);
    if (port.hostPort)
      for (const rule of portNumber(port.hostPort)) yield invalid(`${at}.hostPort`, port.hostPort, rule);
    const protocols = ['SCTP', 'TCP', 'UDP'];
    if (!protocols.includes(port.protocol ?? '')) yield notSupported(`${at}.protocol`, port.protocol ?? '', protocols);
  }
}

/** Two containers that run at the same time cannot have the same host port. */
export function* hostPortConflicts(path: string, containers: readonly Container[]): Problems {
  const taken = new Set<string>();
  for (const [i, container] of containers.entries()) {
    for (const [k, port] of (container.ports ?? []).entries()) {
      if (!port.hostPort) continue;
      const key = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${port.hostPort}`;
      if (taken.has(key)) yield duplicate(`${path}[${i}].ports[${k}].hostPort`, key);
      taken.add(key);
    }
  }
}

/** On the node's network a container port is the node's port. */
export function* hostNetworkPorts(path: string, containers: readonly Container[]): Problems {
  for (const [i, container] of containers.entries()) {
    for (const [k, port] of (container.ports ?? []).entries()) {
      if ((port.hostPort ?? 0) !== port.containerPort) {
        const field = `${path}[${i}].ports[${k}].hostPort`;
        yield invalid(field, port.hostPort ?? 0, 'must match `containerPort` when `hostNetwork` is true');
      }
    }
  }
}
