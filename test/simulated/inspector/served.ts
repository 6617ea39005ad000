import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { Inspector } from '../../../actors/inspect/inspector/inspector.ts';
import type { InspectorSource } from '../../../actors/inspect/inspector/inspector.ts';
import type { RunningInspector } from '../../../actors/inspect/inspector/inspector-server.ts';
import { startInspectorServer } from '../../../actors/inspect/inspector/inspector-server.ts';
import { folder } from '../../pure/journal/journal-fixture.ts';

/** Token of the inspectors under test. */
export const TOKEN = 'the-token-of-this-test';

/** An inspector that answers on a free port of loopback, with a page of three files; gone after the test. */
export async function served(
  t: TestContext,
  source: InspectorSource,
): Promise<RunningInspector & { inspector: Inspector }> {
  const page = pageOf(t);
  const inspector = new Inspector(source, 'v-test');
  if (source.mode === 'files') await inspector.refresh();
  const address = { host: '127.0.0.1', port: 0 };
  const server = await startInspectorServer({ inspector, address, token: TOKEN, log: pino({ level: 'silent' }), page });
  t.after(() => server.close());
  return Object.assign(server, { inspector });
}

/** A page of three files. */
export function pageOf(t: TestContext): string {
  const page = join(folder(t), 'page');
  mkdirSync(page);
  writeFileSync(
    join(page, 'index.html'),
    '<link rel="stylesheet" href="app.css"><script type="module" src="app.js"></script>',
  );
  writeFileSync(join(page, 'app.js'), `// ${'x'.repeat(5_000)}`);
  writeFileSync(join(page, 'app.css'), 'body{}');
  return page;
}

/** An answer with its raw body. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Asks with any headers, `Host` included, which `fetch` does not let one set. With the token unless `authorization` is given. */
export function ask(server: { port: number }, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all = { authorization: `Bearer ${TOKEN}`, ...headers };
    const asked = request({ host: '127.0.0.1', port: server.port, path, headers: all, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** The JSON of an answer. */
export async function json<T>(server: { port: number }, path: string): Promise<T> {
  const { body } = await ask(server, path);
  return JSON.parse(body.toString()) as T;
}
