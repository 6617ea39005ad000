import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpApp, routeUpgrades } from '../../serve/server/http-app.ts';
import { listen } from '../../serve/server/http-listener.ts';
import type { RunningServer } from '../../serve/server/http-listener.ts';
import { answerError } from './answer-json.ts';
import { addApiRoutes } from './api-routes.ts';
import type { InspectorAddress } from '../../configure/configuration/inspector-address.ts';
import type { Inspector } from './inspector.ts';
import { InspectorGuard, SECURITY_HEADERS } from './inspector-guard.ts';
import { BATCH_MS, LiveFeed } from './live-feed.ts';
import { addPageFiles, pageLoader, sendPageFile } from './page-routes.ts';
import type { LoadPage } from './page-routes.ts';
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
  const { app, end } = inspectorApp({ ...options, loadPage: pageLoader(options) });
  const server = await listenForInspector(app, { address, token, log }, end);
  return {
    ...server,
    async close() {
      await server.close();
      inspector.close();
    },
  };
}

/** What {@link inspectorApp} is made from. */
export interface InspectorAppOptions extends InspectorServerOptions {
  loadPage: LoadPage;
}

/** An inspector's routes, and what keeps them fresh until `end`. */
export interface InspectorApp {
  app: FastifyInstance;
  /** Somebody has its page open. */
  watched: () => boolean;
  end: () => void;
}

/** The page of one journal, its API and Stately's protocol; nothing listens yet. */
export function inspectorApp({ inspector, log, token, address, loadPage }: InspectorAppOptions): InspectorApp {
  const app = guardedApp(new InspectorGuard(token, address.host), log);
  const live = new LiveFeed(inspector);
  const stately = new StatelyFeed(inspector);
  const watched = (): boolean => live.size + stately.size > 0;
  const freshness = keepFresh(inspector, watched, log);
  addApiRoutes(app, { inspector, fresh: freshness.fresh });
  app.get('/api/live', (request, reply) => live.accept(request, reply));
  app.get('/stately', (request, reply) => {
    const { pod, history } = request.query as { pod?: string; history?: string };
    const preset = inspector.source.mode === 'files' ? 200 : 0;
    const steps = history === undefined ? preset : Math.min(MAX_HISTORY, Math.max(0, Number(history) || 0));
    return stately.accept(request, reply, { history: steps, ...(pod !== undefined && pod !== '' && { pod }) });
  });
  app.get('/', (request, reply) => sendPageFile(request, reply, loadPage, 'index.html'));
  addPageFiles(app, loadPage);
  const end = (): void => {
    freshness.stop();
    live.close();
    stately.close();
  };
  return { app, watched, end };
}

/** An app that lets in who has the token, and nobody else. */
export function guardedApp(guard: InspectorGuard, log: Logger): FastifyInstance {
  const app = createHttpApp(log, ['/']);
  app.addHook('onSend', async (_request, reply, payload) => {
    void reply.headers(SECURITY_HEADERS);
    return payload;
  });
  app.addHook('onRequest', async (request, reply) => admit(guard, request, reply));
  return app;
}

/** Listens; `end` is called when that fails, and when the server is to close. */
export async function listenForInspector(
  app: FastifyInstance,
  { address, token, log }: Pick<InspectorServerOptions, 'address' | 'token' | 'log'>,
  end: () => void,
): Promise<RunningInspector> {
  let server: RunningServer;
  routeUpgrades(app, app.server);
  try {
    server = await listen(app, { address: address.host, port: address.port, log }, 'inspector', '--inspect');
  } catch (error) {
    end();
    throw error;
  }
  // Whoever listens on all interfaces opens it by one of them; from here loopback will do.
  const base = server.url.replace(/\/\/(0\.0\.0\.0|\[::\]):/, '//127.0.0.1:');
  return {
    ...server,
    address: `${base}/?token=${token}`,
    statelyAddress: `${base.replace('http:', 'ws:')}/stately?token=${token}`,
    async close() {
      end();
      await server.close();
    },
  };
}

/** Lets a request in, or answers it: with the cookie for a token in the address, else with why not. */
async function admit(guard: InspectorGuard, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const [whole = '', ...queries] = request.url.split('?');
  const path = placeOf(whole).path;
  const query = new URLSearchParams(queries.join('?'));
  const given = query.get('token');
  // A client of Stately's protocol comes with the token in its address, from whatever page: it has no other way.
  const bringsToken = given !== null && guard.isToken(given);
  const foreign = guard.refuseOrigin(request.raw, bringsToken && path === '/stately');
  if (foreign !== null) return answerError(reply, foreign.status, foreign.error);
  if (bringsToken && path === '/stately') return undefined;
  if (bringsToken && path === '/') {
    query.delete('token');
    const rest = query.size > 0 ? `${whole}?${query.toString()}` : whole;
    void reply.header('set-cookie', guard.cookie()).header('cache-control', 'no-store');
    return reply.redirect(rest, 303);
  }
  const stranger = guard.refuseStranger(request.raw);
  return stranger === null ? undefined : answerError(reply, stranger.status, stranger.error);
}

/** Where a path leads: of the inspector of many nodes to that of one, and there to `path`. */
export function placeOf(whole: string): { node: string | null; path: string } {
  const [, node, path] = /^\/nodes\/([^/]+)(\/.*)$/.exec(whole) ?? [];
  return node === undefined || path === undefined ? { node: null, path: whole } : { node, path };
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
