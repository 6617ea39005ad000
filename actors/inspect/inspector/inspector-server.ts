import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpApp, routeUpgrades } from '../../serve/server/http-app.ts';
import { listen } from '../../serve/server/http-listener.ts';
import type { RunningServer } from '../../serve/server/http-listener.ts';
import { answerError, takesGzip } from './answer-json.ts';
import { addApiRoutes } from './api-routes.ts';
import type { InspectorAddress } from '../../configure/configuration/inspector-address.ts';
import type { Inspector } from './inspector.ts';
import { InspectorGuard, SECURITY_HEADERS } from './inspector-guard.ts';
import { BATCH_MS, LiveFeed } from './live-feed.ts';
import type { PageFile } from './page-files.ts';
import { loadPage } from './page-files.ts';
import { StatelyFeed } from './stately-feed.ts';

/** What the inspector's server is made from. */
export interface InspectorServerOptions {
  inspector: Inspector;
  address: InspectorAddress;
  token: string;
  log: Logger;
  /** The built page's folder, for tests. */
  page?: string;
}

/** An inspector that answers. */
export interface RunningInspector extends RunningServer {
  /** The address to open, with the token. */
  readonly address: string;
  /** Of Stately's protocol, with the token. */
  readonly statelyAddress: string;
}

/** How often the journal is looked at while nobody looks at the page: so that little is left to read when somebody does. */
const IDLE_MS = 5_000;
/** Most steps of each pod that a client of Stately's protocol can ask for. */
const MAX_HISTORY = 5_000;

/**
 * Serves the page, its API, and Stately's protocol, to whoever has the token.
 * @throws ActorletError SRV001 when the port cannot be had
 */
export async function startInspectorServer(options: InspectorServerOptions): Promise<RunningInspector> {
  const { inspector, log, token, address } = options;
  const guard = new InspectorGuard(token, address.host);
  const app = createHttpApp(log, ['/']);
  app.addHook('onSend', async (_request, reply, payload) => {
    void reply.headers(SECURITY_HEADERS);
    return payload;
  });
  app.addHook('onRequest', async (request, reply) => admit(guard, request, reply));
  const live = new LiveFeed(inspector);
  const stately = new StatelyFeed(inspector);
  const freshness = keepFresh(inspector, () => live.size + stately.size > 0, log);
  addApiRoutes(app, { inspector, fresh: freshness.fresh });
  app.get('/api/live', (request, reply) => live.accept(request, reply));
  app.get('/stately', (request, reply) => {
    const { pod, history } = request.query as { pod?: string; history?: string };
    const preset = inspector.source.mode === 'files' ? 200 : 0;
    const steps = history === undefined ? preset : Math.min(MAX_HISTORY, Math.max(0, Number(history) || 0));
    return stately.accept(request, reply, { history: steps, ...(pod !== undefined && pod !== '' && { pod }) });
  });
  addPageRoutes(app, options);
  routeUpgrades(app, app.server);
  const end = () => {
    freshness.stop();
    live.close();
    stately.close();
  };
  let server: RunningServer;
  try {
    server = await listen(app, { address: address.host, port: address.port, log }, 'inspector', '--inspect');
  } catch (error) {
    end();
    throw error;
  }
  // Whoever listens on all interfaces opens it by one of them; from here loopback will do.
  const base = server.url.replace(/\/\/(0\.0\.0\.0|\[::\]):/, '//127.0.0.1:');
  return {
    url: server.url,
    port: server.port,
    address: `${base}/?token=${token}`,
    statelyAddress: `${base.replace('http:', 'ws:')}/stately?token=${token}`,
    async close() {
      end();
      await server.close();
      inspector.close();
    },
  };
}

/** Lets a request in, or answers it: with the cookie for a token in the address, else with why not. */
async function admit(guard: InspectorGuard, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const [path = '', ...queries] = request.url.split('?');
  const query = new URLSearchParams(queries.join('?'));
  const given = query.get('token');
  // A client of Stately's protocol comes with the token in its address, from whatever page: it has no other way.
  const bringsToken = given !== null && guard.isToken(given);
  const foreign = guard.refuseOrigin(request.raw, bringsToken && path === '/stately');
  if (foreign !== null) return answerError(reply, foreign.status, foreign.error);
  if (bringsToken && path === '/stately') return undefined;
  if (bringsToken && path === '/') {
    query.delete('token');
    const rest = query.size > 0 ? `/?${query.toString()}` : '/';
    void reply.header('set-cookie', guard.cookie()).header('cache-control', 'no-store');
    return reply.redirect(rest, 303);
  }
  const stranger = guard.refuseStranger(request.raw);
  return stranger === null ? undefined : answerError(reply, stranger.status, stranger.error);
}

function addPageRoutes(app: FastifyInstance, { log, page }: InspectorServerOptions): void {
  let loading: Promise<Map<string, PageFile>> | undefined;
  const load = () =>
    (loading ??= loadPage(page).catch((error: unknown) => {
      loading = undefined;
      log.error({ err: error }, "The inspector's page cannot be shown");
      throw error;
    }));
  const send = async (request: FastifyRequest, reply: FastifyReply, name: string): Promise<FastifyReply> => {
    let files: Map<string, PageFile>;
    try {
      files = await load();
    } catch (error) {
      return answerError(reply, 503, error instanceof Error ? error.message : String(error));
    }
    const file = files.get(name);
    if (file === undefined) return answerError(reply, 404, 'there is no such page');
    const versioned = (request.query as { v?: string }).v === file.etag.slice(1, -1);
    void reply
      .header('cache-control', versioned ? 'private, max-age=31536000, immutable' : 'no-cache')
      .header('vary', 'accept-encoding')
      .header('etag', file.etag);
    if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
    void reply.type(file.type);
    if (!takesGzip(request)) return reply.send(file.body);
    return reply.header('content-encoding', 'gzip').send(file.gzipped);
  };
  app.get('/', (request, reply) => send(request, reply, 'index.html'));
  app.get('/:file', (request, reply) => send(request, reply, (request.params as { file: string }).file));
}

/** Reads what the agent writes: often while somebody looks, seldom else, and before an answer. */
function keepFresh(
  inspector: Inspector,
  watched: () => boolean,
  log: Logger,
): { fresh: () => Promise<void>; stop: () => void } {
  if (inspector.source.mode === 'files') return { fresh: () => Promise.resolve(), stop: () => undefined };
  let last = 0;
  let looking: Promise<void> | null = null;
  const look = (): Promise<void> =>
    (looking ??= inspector
      .refresh()
      .catch((error: unknown) => log.warn({ err: error }, 'The inspector cannot read the journal'))
      .finally(() => {
        last = performance.now();
        looking = null;
      }));
  void look();
  const timer = setInterval(() => {
    if (performance.now() - last >= (watched() ? BATCH_MS : IDLE_MS)) void look();
  }, BATCH_MS);
  return {
    // A long journal that is read for the first time is not waited for: what is there so far is shown.
    fresh: async () => {
      if (performance.now() - last >= BATCH_MS) await Promise.race([look(), sleep(200)]);
    },
    stop: () => clearInterval(timer),
  };
}
