import { authErrors } from '../../../machines/errors/auth-errors.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { ClientCaBundle } from '../authn/client-ca-bundle.ts';
import { failureWords } from '../authn/failure-words.ts';
import { bearerAuthenticator, webSocketAuthenticator } from '../authn/token-authenticators.ts';
import { TokenCache } from '../authn/token-cache.ts';
import { tokenReview } from '../authn/token-review.ts';
import {
  anonymousUser,
  orAnonymous,
  unionAuthenticator,
  withAuthenticatedGroup,
} from '../authn/union-authenticator.ts';
import { X509Authenticator } from '../authn/x509-authenticator.ts';
import { alwaysAllow, alwaysDeny } from '../authz/authorizer.ts';
import { nodeAttributes } from '../authz/node-attributes.ts';
import { SubjectAccessAuthorizer } from '../authz/subject-access-review.ts';
import { decodedPath } from './request-path.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { ApiClient } from '../../cluster/api/api-client.ts';
import type { AuthObserver } from '../authn/auth-observer.ts';
import type { Authenticator, UserInfo } from '../authn/user-info.ts';
import type { Sleep } from '../authn/webhook-retry.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { FeatureGates } from '../../configure/configuration/feature-gates.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';

/** Options of {@link createServerAuth}. */
export interface ServerAuthOptions {
  config: Pick<KubeletConfiguration, 'authentication' | 'authorization' | 'kubeAPIQPS' | 'kubeAPIBurst'>;
  featureGates: FeatureGates;
  nodeName: string;
  /** Null on a standalone node: then tokens say nothing, and webhook authorization denies all. */
  api: ApiClient | null;
  log: Logger;
  /** Ms since the epoch (certificates have dates), Date.now by default. */
  now?: () => number;
  /** A clock that nobody can set, ms: how old a file's content or an answer is; the machine's by default. */
  steady?: () => number;
  /** Told of what metrics count. */
  hooks?: AuthObserver;
  /** Waits between tries; for tests. */
  sleep?: Sleep;
}

/** The locks of the kubelet server. */
export interface ServerAuth {
  /**
   * `onRequest` hook of fastify, also for upgrades: answers what may not pass, else leaves the request alone. It comes
   * after the look at the path (serve-mux.ts): what no handler has, gets 404 whoever asks.
   */
  hook(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
  /** Ends questions to the API server that are under way. */
  stop(): void;
}

const TEXT = 'text/plain; charset=utf-8';

/**
 * Authentication and authorization of the kubelet server, as `BuildAuth` and `InstallAuthFilter` of kubelet put them
 * together from the configuration.
 * @throws ActorletError AUTH001 when clientCAFile is bad, AUTH002 when no way to authenticate is configured
 */
export function createServerAuth(options: ServerAuthOptions): ServerAuth {
  const settled = {
    ...options,
    now: options.now ?? Date.now,
    steady: options.steady ?? (() => performance.now()),
    hooks: options.hooks ?? {},
  };
  const authn = authenticatorOf(settled);
  const authz = authorizerOf(settled);
  const fineGrained = options.featureGates.enabled('KubeletFineGrainedAuthz');
  warnOfNoServer(options);
  return {
    hook: (request, reply) => filter(request, reply, authn.authenticator, authz.authorizer, fineGrained, options.log),
    stop: () => {
      authn.stop();
      authz.stop();
    },
  };
}

type Settled = ServerAuthOptions & Required<Pick<ServerAuthOptions, 'now' | 'steady' | 'hooks'>>;

function authenticatorOf({ config, featureGates, api, log, now, steady, hooks, sleep }: Settled): {
  authenticator: Authenticator;
  stop: () => void;
} {
  const { x509, webhook, anonymous } = config.authentication;
  const ways: Authenticator[] = [];
  if (x509.clientCAFile !== '') {
    const bundle = new ClientCaBundle(x509.clientCAFile, log, steady);
    const withUid = featureGates.enabled('AllowParsingUserUIDFromCertAuth');
    ways.push(new X509Authenticator({ roots: () => bundle.current(), withUid, now, steady, observer: hooks }));
  }
  let tokens: TokenCache | undefined;
  if (webhook.enabled && api !== null) {
    const { kubeAPIQPS: qps, kubeAPIBurst: burst } = config;
    const review = tokenReview(api.limited(qps, burst), hooks, sleep);
    tokens = new TokenCache({ review, qps, burst, ttlMs: webhook.cacheTTL, steady, observer: hooks });
    ways.push(bearerAuthenticator(tokens), webSocketAuthenticator(tokens));
  }
  const stop = (): void => tokens?.stop();
  if (ways.length === 0) {
    if (anonymous.enabled) return { authenticator: { authenticate: () => Promise.resolve(anonymousUser) }, stop };
    if (!webhook.enabled) throw new ActorletError(authErrors.noMethod);
  }
  const known = withAuthenticatedGroup(unionAuthenticator(ways));
  return { authenticator: anonymous.enabled ? orAnonymous(known) : known, stop };
}

function authorizerOf(options: Settled): { authorizer: Authorizer; stop: () => void } {
  const { mode, webhook } = options.config.authorization;
  const stop = (): void => undefined;
  if (mode === 'AlwaysAllow') return { authorizer: alwaysAllow, stop };
  if (options.api === null) return { authorizer: alwaysDeny, stop };
  // Turns of their own: kubelet's one limit lets strangers with tokens keep those waiting who are known.
  const api = options.api.limited(options.config.kubeAPIQPS, options.config.kubeAPIBurst);
  const authorizer = new SubjectAccessAuthorizer({
    ...{ api, nodeName: options.nodeName, steady: options.steady, observer: options.hooks, sleep: options.sleep },
    allowedTtlMs: webhook.cacheAuthorizedTTL,
    deniedTtlMs: webhook.cacheUnauthorizedTTL,
  });
  return { authorizer, stop: () => authorizer.stop() };
}

function warnOfNoServer({ config, api, log }: ServerAuthOptions): void {
  if (api !== null) return;
  const tokens = config.authentication.webhook.enabled;
  const denies = config.authorization.mode === 'Webhook';
  if (!tokens && !denies) return;
  const effects = [...(tokens ? ['no bearer token is known'] : []), ...(denies ? ['every request is forbidden'] : [])];
  const cures = [
    ...(tokens ? ['authentication.webhook.enabled to false'] : []),
    ...(denies ? ['authorization.mode to AlwaysAllow'] : []),
  ];
  log.warn(
    `The kubelet server has no API server to ask who may do what: ${effects.join(' and ')}. ` +
      `Give --kubeconfig, or set ${cures.join(' and ')} for a standalone node.`,
  );
}

async function filter(
  request: FastifyRequest,
  reply: FastifyReply,
  authn: Authenticator,
  authz: Authorizer,
  fineGrained: boolean,
  log: Logger,
): Promise<FastifyReply | undefined> {
  let user: UserInfo | null = null;
  try {
    const { headers, rawHeaders, socket } = request.raw;
    user = await authn.authenticate({ headers, rawHeaders, socket });
  } catch (error) {
    log.error({ reason: failureWords(error) }, 'Unable to authenticate the request due to an error');
  }
  if (user === null) return reply.code(401).type(TEXT).send('Unauthorized');

  const path = decodedPath(request.url);
  const { verb, subresources } = nodeAttributes(request.method, path, fineGrained);
  for (const subresource of subresources) {
    const words = `user=${user.name}, verb=${verb}, resource=nodes, subresource=${subresource}`;
    try {
      if (await authz.allows({ user, verb, subresource, path })) return undefined;
    } catch (error) {
      const about = { user: user.name, verb, resource: 'nodes', subresource, reason: failureWords(error) };
      log.error(about, 'Authorization error');
      return reply.code(500).type(TEXT).send(`Authorization error (${words})`);
    }
  }
  log.info({ user: user.name, verb, resource: 'nodes', 'subresource(s)': subresources }, 'Forbidden');
  const listed = `[${subresources.join(' ')}]`;
  return reply
    .code(403)
    .type(TEXT)
    .send(`Forbidden (user=${user.name}, verb=${verb}, resource=nodes, subresource(s)=${listed})\n`);
}
