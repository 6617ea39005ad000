import { podText } from '../container/container-events.ts';
import { resolvePort } from '../container/resolve-port.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { Effect } from '../protocol/effects.ts';
import { probeCommand } from './probe-command.ts';
import type { ProbeWorld } from './probe-context.ts';

/** The effect that runs a probe once, or why it cannot be run. */
export function probeEffect(
  world: ProbeWorld,
  containerId: string,
  key: string,
): { effect: Effect } | { error: string } {
  const { probe, container } = world;
  const timeoutSeconds = probe.timeoutSeconds ?? 1;
  const timeoutMs = timeoutSeconds * 1000;
  if (probe.exec) {
    const made = probeCommand(world);
    if ('error' in made) return made;
    return { effect: { type: 'cri.ExecSync', key, params: { containerId, cmd: made.command, timeoutSeconds } } };
  }
  if (probe.httpGet) {
    const found = resolvePort(probe.httpGet.port, container, world.settings);
    if ('error' in found) return found;
    const path = probe.httpGet.path ?? '/';
    // Who sends it reads it as Go does: what has no root gets one, and of a whole URL the path counts.
    const asWritten = path.startsWith('/') || behaves(world.settings, 'triesAreToldOf');
    return {
      effect: {
        type: 'net.HttpGet',
        key,
        params: {
          scheme: probe.httpGet.scheme === 'HTTPS' ? 'https' : 'http',
          host: probe.httpGet.host || world.podIP,
          port: found.port,
          path: asWritten ? path : `/${path}`,
          headers: (probe.httpGet.httpHeaders ?? []).map(({ name, value }) => ({ name, value })),
          timeoutMs,
        },
      },
    };
  }
  if (probe.tcpSocket) {
    const found = resolvePort(probe.tcpSocket.port, container, world.settings);
    if ('error' in found) return found;
    const host = probe.tcpSocket.host || world.podIP;
    return { effect: { type: 'net.TcpConnect', key, params: { host, port: found.port, timeoutMs } } };
  }
  if (probe.grpc) {
    return {
      effect: {
        type: 'net.GrpcHealth',
        key,
        params: { host: world.podIP, port: probe.grpc.port, service: probe.grpc.service ?? '', timeoutMs },
      },
    };
  }
  return { error: `missing probe handler for ${podText(world.pod)}:${container.name}` };
}
