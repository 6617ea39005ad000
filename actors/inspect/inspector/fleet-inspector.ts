import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { InspectorAddress } from '../../configure/configuration/inspector-address.ts';
import { answerError, answerJson } from './answer-json.ts';
import { Inspector } from './inspector.ts';
import { InspectorGuard } from './inspector-guard.ts';
import { guardedApp, inspectorApp, listenForInspector, placeOf } from './inspector-server.ts';
import type { InspectorApp, RunningInspector } from './inspector-server.ts';
import { addPageFiles, pageLoader } from './page-routes.ts';

/** What the inspector of many nodes is made from. */
export interface FleetInspectorOptions {
  /** Has a folder for each node, with its journal. */
  dir: string;
  address: InspectorAddress;
  token: string;
  log: Logger;
  /** Of this program. */
  version: string;
  /** The built page's folder, for tests. */
  page?: string;
}

/** Journals that are held open though nobody looks at them. */
const MOST_OPEN = 8;

interface OpenNode extends InspectorApp {
  inspector: Inspector;
}

/**
 * The inspector of many nodes: `/` lists them, and `/nodes/NAME/` is the inspector of one, as it is of an agent alone. A node's journal is
 * read when somebody asks for it.
 * @throws ActorletError SRV001 when the port cannot be had
 */
export async function startFleetInspector(options: FleetInspectorOptions): Promise<RunningInspector> {
  const { dir, address, token, log, version } = options;
  const loadPage = pageLoader(options);
  /** By name, longest unused first. */
  const open = new Map<string, OpenNode>();
  const app = guardedApp(new InspectorGuard(token, address.host), log);

  const close = ({ app: one, end, inspector }: OpenNode): Promise<void> => {
    end();
    inspector.close();
    return one.close();
  };
  const nodeOf = async (name: string): Promise<OpenNode | null> => {
    let node = open.get(name);
    if (node === undefined) {
      if (!(await nodesIn(dir)).includes(name)) return null;
      node = open.get(name);
    }
    if (node === undefined) {
      const inspector = new Inspector({ mode: 'live', dir: join(dir, name) }, version);
      node = { ...inspectorApp({ inspector, address, token, log, loadPage }), inspector };
      const idle = [...open].filter(([, each]) => !each.watched());
      for (const [old, each] of idle.slice(0, Math.max(0, open.size + 1 - MOST_OPEN))) {
        open.delete(old);
        void close(each);
      }
    }
    open.delete(name);
    open.set(name, node);
    await node.app.ready();
    return node;
  };
  const pass = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const [whole = '', ...queries] = request.url.split('?');
    const { node: name, path } = placeOf(whole);
    const node = name === null ? null : await nodeOf(name);
    if (node === null) return answerError(reply, 404, 'there is no such node');
    reply.hijack();
    request.raw.url = [path, ...queries].join('?');
    node.app.routing(request.raw, reply.raw);
    return reply;
  };

  app.get('/', async (_request, reply) => {
    void reply.header('cache-control', 'no-store').type('text/html; charset=utf-8');
    return reply.send(listOf(await nodesIn(dir)));
  });
  app.get('/api/nodes', async (request, reply) => answerJson(request, reply, await nodesIn(dir)));
  app.get('/nodes/:node', (request, reply) => reply.redirect(`${request.url.split('?')[0] ?? ''}/`, 303));
  app.get('/nodes/:node/*', pass);
  addPageFiles(app, loadPage);
  const end = (): void => {
    for (const node of open.values()) void close(node);
    open.clear();
  };
  return listenForInspector(app, { address, token, log }, end);
}

/** Names of the nodes that have a journal, by their numbers. */
async function nodesIn(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

function listOf(names: readonly string[]): string {
  const rows = names.map((name) => `<li><a href="nodes/${encodeURIComponent(name)}/">${escaped(name)}</a></li>`);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>actorlet inspector: ${names.length} nodes</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="app.css" />
  </head>
  <body class="nodes">
    <h1>${names.length} nodes</h1>
    <ul>
${rows.join('\n')}
    </ul>
  </body>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
