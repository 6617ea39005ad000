import type { Container } from '../protocol/api-types.ts';
import type { Effect } from '../protocol/effects.ts';

type Handler = NonNullable<NonNullable<Container['lifecycle']>['postStart']>;

/** What a lifecycle hook asks for: an effect, or a pause of so many ms (`sleep`, KEP-3960). */
export type HookAction = { effect: Effect } | { sleepMs: number } | { error: string };

/**
 * Translates `lifecycle.postStart` or `.preStop`. `timeoutSeconds` 0 = none. A hook without a host asks the pod's own address.
 */
export function hookAction(
  handler: Handler,
  container: Container,
  containerId: string,
  podIP: string,
  key: string,
  timeoutSeconds: number,
): HookAction {
  if (handler.exec) {
    return { effect: { type: 'cri.ExecSync', key, params: { containerId, cmd: handler.exec.command ?? [], timeoutSeconds } } };
  }
  if (handler.httpGet) {
    const port = resolvePort(handler.httpGet.port, container);
    if (port === null) return { error: `couldn't find port: ${JSON.stringify(handler.httpGet.port)} in container ${container.name}` };
    return {
      effect: {
        type: 'net.HttpGet',
        key,
        params: {
          scheme: handler.httpGet.scheme === 'HTTPS' ? 'https' : 'http',
          host: handler.httpGet.host || podIP,
          port,
          path: handler.httpGet.path ?? '/',
          headers: (handler.httpGet.httpHeaders ?? []).map(({ name, value }) => ({ name, value })),
          timeoutMs: timeoutSeconds === 0 ? 60_000 : timeoutSeconds * 1000,
        },
      },
    };
  }
  if (handler.sleep) return { sleepMs: handler.sleep.seconds * 1000 };
  return { error: 'invalid handler: no action is set' };
}

/** A port given as number, numeral or the name of a container port; null when there is none. */
export function resolvePort(port: number | string, container: Container): number | null {
  if (typeof port === 'number') return port;
  const named = container.ports?.find((p) => p.name === port)?.containerPort;
  if (named !== undefined) return named;
  const n = Number(port);
  return Number.isInteger(n) && n > 0 && n < 65536 ? n : null;
}
