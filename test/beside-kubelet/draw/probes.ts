import type { Draws } from './draws.ts';

/** What stands for the ports of the server that network probes go to, until a pod is created on one side. */
export const PROBED_PORT = 'probed-port';
export const PROBED_TLS_PORT = 'probed-tls-port';

const PATHS = ['/ok', '/ok', '/ok', '/fails', '/long', '/moved', '/away', '/loop', '/slow', '/torn', '/ok?a=b%20c'];

/** A probe of a container; `command` is the first word of its command, by which scripts know what it is for. */
export function drawnProbe(d: Draws, command: string): Record<string, unknown> {
  return {
    ...drawnHandler(d, command),
    periodSeconds: d.between(1, 3),
    ...d.maybe(0.2, () => ({ timeoutSeconds: d.between(1, 2) })),
    ...d.maybe(0.4, () => ({ initialDelaySeconds: d.between(1, 3) })),
    ...d.maybe(0.4, () => ({ failureThreshold: d.between(1, 4) })),
    ...(command === 'ready' && d.maybe(0.3, () => ({ successThreshold: 2 }))),
    ...(command !== 'ready' && d.maybe(0.3, () => ({ terminationGracePeriodSeconds: d.between(1, 3) }))),
  };
}

function drawnHandler(d: Draws, command: string): Record<string, unknown> {
  const kind = d.between(1, 10);
  if (kind <= 6) return { exec: { command: [command, d.one(['always', 'later', 'never', 'thrice'])] } };
  if (kind <= 8) return { httpGet: drawnHttpGet(d) };
  if (kind === 9) return { tcpSocket: { host: '127.0.0.1', port: d.one([PROBED_PORT, 1]) } };
  return d.one([
    { httpGet: { path: '/', port: 8080 } },
    { httpGet: { path: '/', port: 'no-such-port' } },
    { tcpSocket: { port: 8081 } },
    { grpc: { port: 8082 } },
    { grpc: { port: 8083, service: 'named' } },
  ]);
}

/** A request to the server of the side, by a probe or a hook. */
export function drawnHttpGet(d: Draws): Record<string, unknown> {
  return {
    host: '127.0.0.1',
    ...d.one([
      { port: PROBED_PORT },
      { port: PROBED_PORT, scheme: 'HTTP' },
      { port: PROBED_TLS_PORT, scheme: 'HTTPS' },
    ]),
    ...d.maybe(0.9, () => ({ path: d.one(PATHS) })),
    ...d.maybe(0.3, () => ({
      httpHeaders: d.some(
        [
          { name: 'X-Own', value: 'first' },
          { name: 'X-Own', value: 'second' },
          { name: 'Host', value: 'named.example' },
          { name: 'User-Agent', value: 'own' },
          { name: 'Accept', value: '' },
        ],
        0.4,
      ),
    })),
  };
}
