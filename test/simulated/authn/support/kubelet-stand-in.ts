import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { createApiClient } from '../../../../actors/cluster/api/create-api-client.ts';
import { createServerAuth } from '../../../../actors/serve/server/auth-hook.ts';
import { createHttpApp, routeUpgrades } from '../../../../actors/serve/server/http-app.ts';
import { kubeletPatterns } from '../../../../actors/serve/server/serve-mux.ts';
import { startFakeApiServer } from '../../api/support/fake-api-server.ts';
import { issueCertificate } from './issue-certificate.ts';
import type { TestContext } from 'node:test';
import type { AuthObserver } from '../../../../actors/serve/authn/auth-observer.ts';
import type { UserInfo } from '../../../../actors/serve/authn/user-info.ts';
import type { ServerAuthOptions } from '../../../../actors/serve/server/auth-hook.ts';
import type { Issued } from './issue-certificate.ts';

/** Options of {@link startStandIn}. */
export interface StandInOptions {
  /** Default: CA file. False leaves `clientCAFile` out. */
  x509?: boolean;
  anonymous?: boolean;
  webhook?: boolean;
  mode?: 'Webhook' | 'AlwaysAllow';
  fineGrained?: boolean;
  /** False: a standalone node. */
  apiServer?: boolean;
  now?: () => number;
  steady?: () => number;
  /** Limits of the API client: none by default. */
  qps?: number;
  burst?: number;
  hooks?: AuthObserver;
}

/** What a client got. */
export interface Got {
  status: number;
  type: string;
  body: string;
  headers: IncomingHttpHeaders;
}

/** Tokens that the fake API server knows. */
export const users: Record<string, Partial<UserInfo> & { username: string }> = {
  'alice-token': { username: 'alice', uid: 'a1', groups: ['dev'], extra: { scopes: ['x'] } },
  'bob-token': { username: 'bob' },
};

/** A server with the locks of the kubelet server, and routes that say what reached them. */
export async function startStandIn(t: TestContext, options: StandInOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'server-auth-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const caFile = join(folder, 'client-ca.crt');
  const root = issueCertificate({ commonName: 'client-ca', ca: true });
  writeFileSync(caFile, root.pem);

  const apiServer = await startFakeApiServer({ transport: 'http' });
  t.after(() => apiServer.close());
  /** `user verb subresource` of what is allowed. */
  const allowed = new Set<string>();
  const answer = (body: object) => ({ code: 201, body });
  apiServer.reply({ resource: 'tokenreviews' }, ({ body }) => {
    const { token } = (body as { spec: { token: string } }).spec;
    const user = users[token];
    return answer({ status: user === undefined ? { authenticated: false } : { authenticated: true, user } });
  });
  apiServer.reply({ resource: 'subjectaccessreviews' }, ({ body }) => {
    const { user, resourceAttributes: of } = (
      body as { spec: { user: string; resourceAttributes: Record<string, string> } }
    ).spec;
    return answer({ status: { allowed: allowed.has(`${user} ${of.verb ?? ''} ${of.subresource ?? ''}`) } });
  });
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const api =
    options.apiServer === false
      ? null
      : createApiClient({ kubeconfig: apiServer.kubeconfigPath, userAgent: 'test', log: pino({ level: 'silent' }) });
  t.after(() => api?.close());
  const config: ServerAuthOptions['config'] = {
    ...{ kubeAPIQPS: options.qps ?? 0, kubeAPIBurst: options.burst ?? 0 },
    authentication: {
      x509: { clientCAFile: options.x509 === false ? '' : caFile },
      webhook: { enabled: options.webhook ?? true, cacheTTL: 120_000 },
      anonymous: { enabled: options.anonymous ?? false },
    },
    authorization: {
      mode: options.mode ?? 'Webhook',
      webhook: { cacheAuthorizedTTL: 300_000, cacheUnauthorizedTTL: 30_000 },
    },
  };
  const auth = createServerAuth({
    config,
    featureGates: { enabled: (name) => (name === 'KubeletFineGrainedAuthz' ? (options.fineGrained ?? true) : true) },
    nodeName: 'node-1',
    api,
    log,
    now: options.now,
    steady: options.steady,
    hooks: options.hooks,
    sleep: () => Promise.resolve(),
  });
  t.after(() => auth.stop());

  const { server, port, routed } = await listen(t, auth.hook);
  return { folder, caFile, root, apiServer, allowed, lines, auth, server, port, routed };
}

async function listen(t: TestContext, hook: ReturnType<typeof createServerAuth>['hook']) {
  const own = issueCertificate({ commonName: 'node-1', usages: [] });
  const server = https.createServer({ cert: own.pem, key: own.keyPem, requestCert: true, rejectUnauthorized: false });
  const patterns = kubeletPatterns({
    ...{ debugging: true, healthChecks: ['ping', 'log', 'syncloop'] },
    ...{ checkpoint: true, flagz: true, statusz: true },
  });
  const app = createHttpApp(pino({ level: 'silent' }), patterns, (handler) => server.on('request', handler));
  const routed: { authorization?: string; protocols?: string; raw: string[] }[] = [];
  app.addHook('onRequest', hook);
  app.all('/*', ({ headers, raw }) => {
    const { authorization, 'sec-websocket-protocol': protocols } = headers;
    routed.push({ authorization, protocols, raw: raw.rawHeaders });
    return 'reached';
  });
  routeUpgrades(app, server);
  await app.ready();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    server.closeAllConnections();
    await app.close();
    await new Promise((resolve) => server.close(resolve));
  });
  return { server, port: (server.address() as AddressInfo).port, routed };
}

/** Options of {@link ask}. */
export interface AskOptions {
  method?: string;
  token?: string;
  headers?: Record<string, string | string[]>;
  /** Client certificate, the intermediates behind it. */
  show?: Issued[];
  agent?: https.Agent;
  session?: Buffer;
  maxVersion?: 'TLSv1.2' | 'TLSv1.3';
}

/** One request over TLS; a new connection without an agent. */
export function ask(port: number, path: string, options: AskOptions = {}): Promise<Got> {
  const { token, show = [], method = 'GET' } = options;
  return new Promise((resolve, reject) => {
    const request = https.request({
      ...{ host: '127.0.0.1', port, path, method, rejectUnauthorized: false, agent: options.agent ?? false },
      ...(show[0] === undefined ? {} : { key: show[0].keyPem, cert: show.map(({ pem }) => pem).join('') }),
      ...(options.session === undefined ? {} : { session: options.session }),
      ...(options.maxVersion === undefined ? {} : { maxVersion: options.maxVersion }),
      headers: { ...options.headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode = 0, headers } = response;
        resolve({ status: statusCode, type: headers['content-type'] ?? '', body, headers });
      });
    });
    request.end();
  });
}
