import { hostPort } from '../values/host-port.ts';
import type { Container } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { Effect } from '../protocol/effects.ts';
import type { EffectDone, EffectFailed } from '../protocol/messages.ts';
import type { ContainerWorld } from './container-context.ts';
import { resolvePort } from './resolve-port.ts';

type Handler = NonNullable<NonNullable<Container['lifecycle']>['postStart']>;

/** What a hook is made of, besides itself. */
type HookWorld = Pick<ContainerWorld, 'container' | 'podIPs' | 'settings'>;

/** What a lifecycle hook asks for: an effect, or a pause of so many ms (`sleep`, KEP-3960). */
export type HookAction = { effect: Effect } | { sleepMs: number } | { error: string };

/** How a hook's request names itself, unless the pod says otherwise (kubelet 1.35). */
const USER_AGENT = 'kube-lifecycle/1.35';
/** End of the key of a request that is sent again over http. */
const OVER_HTTP = '/http';

/**
 * Translates `lifecycle.postStart` or `.preStop`. `timeoutSeconds` 0 = none. A hook without a host asks the pod's own address.
 * Any answer to a request counts as success, whatever its status.
 */
export function hookAction(
  handler: Handler,
  { container, podIPs, settings }: HookWorld,
  containerId: string,
  key: string,
  timeoutSeconds: number,
): HookAction {
  if (handler.exec) {
    return {
      effect: { type: 'cri.ExecSync', key, params: { containerId, cmd: handler.exec.command ?? [], timeoutSeconds } },
    };
  }
  if (handler.httpGet) {
    const found = resolvePort(handler.httpGet.port, container, settings);
    if ('error' in found) {
      const told = behaves(settings, 'unknownPortsAreTold');
      return { error: told ? found.error : `${found.error} in container ${container.name}` };
    }
    const host = handler.httpGet.host || (podIPs[0] ?? '');
    if (host === '') return { error: 'failed to find networking container' };
    return {
      effect: {
        type: 'net.HttpGet',
        key,
        params: {
          scheme: handler.httpGet.scheme === 'HTTPS' ? 'https' : 'http',
          host,
          port: found.port,
          path: handler.httpGet.path ?? '/',
          headers: hookHeaders(handler.httpGet.httpHeaders ?? []),
          timeoutMs: timeoutSeconds === 0 ? 60_000 : timeoutSeconds * 1000,
        },
      },
    };
  }
  if (handler.sleep) return { sleepMs: handler.sleep.seconds * 1000 };
  return { error: 'invalid handler: no action is set' };
}

function hookHeaders(given: readonly { name: string; value: string }[]): { name: string; value: string }[] {
  const headers = given.map(({ name, value }) => ({ name, value }));
  if (!headers.some(({ name }) => name.toLowerCase() === 'user-agent'))
    headers.push({ name: 'User-Agent', value: USER_AGENT });
  return headers;
}

/**
 * The same request over http, for a server that answered https with http (kubelet's runHTTPHandler): without the
 * Authorization header, which must not go over the wire in clear. Null when the hook makes no https request.
 */
export function hookOverHttp(action: HookAction): Effect | null {
  if (!('effect' in action) || action.effect.type !== 'net.HttpGet' || action.effect.params.scheme !== 'https')
    return null;
  const { key, params } = action.effect;
  const headers = params.headers.filter(({ name }) => name.toLowerCase() !== 'authorization');
  return { type: 'net.HttpGet', key: `${key}${OVER_HTTP}`, params: { ...params, scheme: 'http', headers } };
}

/** It is that of a request which was sent again over http. */
export function isOverHttp({ effect, key }: EffectDone | EffectFailed): boolean {
  return effect === 'net.HttpGet' && key.endsWith(OVER_HTTP);
}

/** The outcome of a hook says that the server speaks http where https was asked for, and http has not been tried yet. */
export function wantsHttp(outcome: EffectFailed): boolean {
  return outcome.effect === 'net.HttpGet' && outcome.error.code === 'HTTPResponseToHTTPSClient' && !isOverHttp(outcome);
}

/** Event LifecycleHTTPFallback, when the outcome is that of a request which succeeded over http; it is the pod's event. */
export function fallbackEvents(
  outcome: EffectDone,
  handler: Handler | undefined,
  { container, podIPs, settings }: HookWorld,
): Effect[] {
  if (outcome.effect !== 'net.HttpGet' || !outcome.key.endsWith(OVER_HTTP) || !handler?.httpGet) return [];
  const host = handler.httpGet.host || (podIPs[0] ?? '');
  const found = resolvePort(handler.httpGet.port, container, settings);
  const address = hostPort(host, 'port' in found ? found.port : '');
  const message = `request to HTTPS lifecycle hook ${address} got HTTP response, retry with HTTP succeeded`;
  return [{ type: 'event.Record', key: '', params: { type: 'Warning', reason: 'LifecycleHTTPFallback', message } }];
}
