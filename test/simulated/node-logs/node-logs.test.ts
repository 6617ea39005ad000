import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import fastify from 'fastify';
import type { onRequestAsyncHookHandler } from 'fastify';
import { pino } from 'pino';
import { addNodeLogRoutes } from '../../../actors/serve/node-logs/node-log-routes.ts';
import type { NodeLogOptions } from '../../../actors/serve/node-logs/node-log-routes.ts';
import { PATIENCE_MS, waitFor } from '../../tools/wait-for.ts';

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

interface NodeLogs {
  url: string;
  /** The served folder; beside it lies `secret`. */
  dir: string;
  /** Scratch of the test. */
  base: string;
  get: (path: string, headers?: Record<string, string>) => Promise<Answer>;
}

/** A program that knows the unit `known.service` and otherwise does what `body` says. */
function fakeJournalctl(base: string, body: string): string {
  const path = join(base, 'journalctl');
  writeFileSync(path, `#!/bin/sh\nif [ "$1" = --field ]; then echo known.service; exit 0; fi\n${body}\n`, {
    mode: 0o755,
  });
  return path;
}

/** `before` is run before each request is answered. */
type StartOptions = Partial<NodeLogOptions> & { journal?: string; before?: onRequestAsyncHookHandler };

async function start(t: TestContext, { before, ...options }: StartOptions = {}): Promise<NodeLogs> {
  const base = mkdtempSync(join(tmpdir(), 'actorlet-node-logs-'));
  t.after(() => {
    rmSync(base, { recursive: true, force: true });
  });
  const dir = join(base, 'log');
  mkdirSync(join(dir, 'sub'), { recursive: true });
  writeFileSync(join(base, 'secret'), 'secret');
  writeFileSync(join(dir, 'a.txt'), 'hello\n');
  writeFileSync(join(dir, 'file.log'), 'log of file\n');
  mkdirSync(join(dir, 'nested'));
  writeFileSync(join(dir, 'nested', 'nested.log'), 'log of nested\n');
  symlinkSync('../secret', join(dir, 'leak.log'));
  const app = fastify();
  if (before !== undefined) app.addHook('onRequest', before);
  addNodeLogRoutes(app, {
    config: { enableSystemLogHandler: true, enableSystemLogQuery: true },
    gates: { enabled: (name) => name === 'NodeLogQuery' },
    log: pino({ level: 'silent' }),
    dir,
    journalctl: fakeJournalctl(base, options.journal ?? 'echo "args: $*"; echo oops >&2'),
    ...options,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  // Not fetch: it would take `..` out of the path, follow redirects and unpack what is packed.
  const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const call = request({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => {
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts) });
        });
      });
      call.on('error', reject);
      call.end();
    });
  return { url: `http://127.0.0.1:${port}`, dir, base, get };
}

test('files, folders, redirects, ranges and conditions', async (t) => {
  const { get } = await start(t);
  const file = await get('/logs/a.txt');
  assert.deepEqual([file.status, file.body.toString()], [200, 'hello\n']);
  assert.equal(file.headers['content-type'], 'text/plain; charset=utf-8');
  assert.equal(file.headers['accept-ranges'], 'bytes');
  const list = await get('/logs/');
  assert.match(list.body.toString(), /<a href="sub\/">sub\/<\/a>\n/);
  for (const [path, location] of [
    ['/logs/sub', 'sub/'],
    ['/logs/sub?x=y', 'sub/?x=y'],
    ['/logs/a.txt/', '../a.txt'],
    ['/logs/x/index.html', './'],
  ] as const) {
    const answer = await get(path);
    assert.deepEqual([answer.status, answer.headers.location], [301, location]);
  }
  const part = await get('/logs/a.txt', { range: 'bytes=1-2' });
  assert.deepEqual([part.status, part.body.toString(), part.headers['content-range']], [206, 'el', 'bytes 1-2/6']);
  const parts = await get('/logs/a.txt', { range: 'bytes=0-0,4-4' });
  assert.equal(parts.status, 206);
  assert.equal(Number(parts.headers['content-length']), parts.body.length);
  assert.equal((await get('/logs/a.txt', { range: 'bytes=9-' })).status, 416);
  const since = String(file.headers['last-modified']);
  assert.equal((await get('/logs/a.txt', { 'if-modified-since': since })).status, 304);
  assert.equal((await get('/logs/a.txt', { 'if-match': '"x"' })).status, 412);
  const absent = await get('/logs/absent');
  assert.deepEqual([absent.status, absent.body.toString()], [404, '404 page not found\n']);
});

test('no spelling of .. leads out of the folder', async (t) => {
  const { get } = await start(t, { config: { enableSystemLogHandler: true, enableSystemLogQuery: false } });
  for (const path of [
    '../secret',
    '%2e%2e/secret',
    '..%2fsecret',
    'sub/../../secret',
    '%2e%2e%2fsecret',
    './/..//secret',
    'a%00b',
  ]) {
    const { status, body } = await get(`/logs/${path}`);
    assert.deepEqual([status, body.includes('secret')], [404, false], path);
  }
});

test('the endpoint can be switched off', async (t) => {
  const { get } = await start(t, { config: { enableSystemLogHandler: false, enableSystemLogQuery: false } });
  for (const path of ['/logs/', '/logs/a.txt']) {
    const { status, body, headers } = await get(path);
    assert.deepEqual([status, body.toString()], [405, 'logs endpoint is disabled.\n']);
    assert.equal(headers['x-content-type-options'], 'nosniff');
  }
});

test('without switch and gate a query is only a query', async (t) => {
  const { get } = await start(t, { gates: { enabled: () => false } });
  assert.match((await get('/logs/?query=known')).body.toString(), /^<!doctype html>/);
});

test('a query of services asks the journal, else their files', async (t) => {
  const { get } = await start(t);
  const text = async (query: string): Promise<string> => (await get(`/logs/?${query}`)).body.toString();
  const journal = await text('query=known&tailLines=3');
  assert.match(journal, /^args: --utc --no-pager --output=short-precise --pager-end --lines=3 --unit=known$/m);
  assert.match(journal, /^oops$/m);
  assert.equal(await text('query=file'), 'log of file\n');
  assert.equal(await text('query=file.log'), 'log of file\n');
  assert.equal(await text('query=nested'), 'log of nested\n');
  assert.equal(await text('query=nothing'), '\nlog not found for nothing\n');
  assert.equal(await text('query=leak'), '\nerror getting log for leak: openat leak.log: path escapes from parent\n');
  assert.equal(
    await text('query=file&query=b&boot=0'),
    '\noptions present and query resolved to log files for [file b]\ntry without specifying options\n',
  );
  const both = await text('query=file&query=known');
  assert.match(both, /args: .*--unit=known\n[^]*log of file\n$/);
  const answer = await get('/logs/?query=file', { 'accept-encoding': 'gzip' });
  assert.equal(answer.headers['content-type'], 'text/plain;charset=UTF-8');
  assert.equal(gunzipSync(answer.body).toString(), 'log of file\n');
});

test('a query of a file, and refusals', async (t) => {
  const { get } = await start(t);
  const table: [target: string, status: number, body: string][] = [
    ['/logs/?query=nested/nested.log', 200, 'log of nested\n'],
    ['/logs/?query=', 400, 'query: Invalid value: [""]: may not be empty\n'],
    ['/logs/a.txt?query=file', 406, 'path not allowed in query mode\n'],
    ['/logs/a.txt', 200, 'hello\n'],
    ['/logs/?boot=0', 406, 'query: Required value: cannot be empty with options\n'],
    ['/logs/?query=/a.txt', 406, 'query: Invalid value: ["/a.txt"]: statat /a.txt: path escapes from parent\n'],
    [
      '/logs/?query=../secret',
      406,
      'query: Invalid value: ["../secret"]: statat ../secret: path escapes from parent\n',
    ],
    [
      '/logs/?query=./leak.log',
      406,
      'query: Invalid value: ["./leak.log"]: statat ./leak.log: path escapes from parent\n',
    ],
    ['/logs/?query=no/file', 406, 'query: Invalid value: ["no/file"]: statat no/file: no such file or directory\n'],
  ];
  for (const [target, status, body] of table) {
    const answer = await get(target);
    assert.deepEqual([answer.status, answer.body.toString()], [status, body], target);
  }
});

test('without journalctl the files are left', async (t) => {
  const { get } = await start(t, { journalctl: '/nowhere/journalctl' });
  assert.equal((await get('/logs/?query=file')).body.toString(), 'log of file\n');
});

test('a client that leaves ends journalctl', async (t) => {
  const { url, base } = await start(t, { journal: 'echo $$ > "$(dirname "$0")/pid"; exec yes' });
  const abort = new AbortController();
  // Kept to the end: fetch hangs up for an answer that was collected.
  const unread = await fetch(`${url}/logs/?query=known`, { signal: abort.signal });
  const pid = await waitFor('the program', () => {
    const path = join(base, 'pid');
    return existsSync(path) ? readFileSync(path, 'utf8').trim() || undefined : undefined;
  });
  assert.equal(existsSync(`/proc/${pid}`), true);
  assert.equal(unread.bodyUsed, false);
  abort.abort();
  await waitFor('its end', () => (existsSync(`/proc/${pid}`) ? undefined : true));
});

test('a client that leaves leaves no file open', async (t) => {
  const { url, dir } = await start(t);
  writeFileSync(join(dir, 'big.log'), Buffer.alloc(64 * 1024 * 1024));
  const open = (): number =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === join(dir, 'big.log');
      } catch {
        return false;
      }
    }).length;
  for (const target of ['/logs/big.log', '/logs/?query=big']) {
    const abort = new AbortController();
    const unread = await fetch(`${url}${target}`, { signal: abort.signal });
    await waitFor('the open file', () => (open() > 0 ? true : undefined));
    assert.equal(unread.bodyUsed, false);
    abort.abort();
    await waitFor('no open file', () => (open() === 0 ? true : undefined));
  }
});

const real = spawnSync('journalctl', ['--version']).status === 0;
test('the journalctl of this machine takes our arguments', { skip: !real && 'no journalctl here' }, async (t) => {
  const { dir, base } = await start(t);
  const { writeServiceLogs } = await import('../../../actors/serve/node-logs/service-logs.ts');
  const { PassThrough } = await import('node:stream');
  // Only its list of units is made up; the rest of the arguments goes to the real one, with an empty journal.
  const journalctl = fakeJournalctl(base, `exec journalctl --directory="${dir}" "$@"`);
  const out = new PassThrough();
  const query = {
    services: ['known'],
    files: [],
    pattern: 'x.y',
    sinceTime: '2024-01-02T03:04:05Z',
    untilTime: '2024-01-03T03:04:05Z',
    tailLines: 5,
  };
  await writeServiceLogs({ query, dir, journalctl, out, signal: AbortSignal.timeout(20_000) });
  const text = String(out.read() ?? '');
  assert.doesNotMatch(text, /unrecognized|invalid option|Failed to parse/i);
});

test('of a file that becomes shorter while it is sent the client hears that there is no more', async (t) => {
  const { url, dir } = await start(t);
  const path = join(dir, 'long.log');
  writeFileSync(path, Buffer.alloc(32 * 1024 * 1024));
  const ended = new Promise<string>((resolve, reject) => {
    const asked = request(`${url}/logs/long.log`, (answer) => {
      // By now the server has sent what the connection holds, and waits.
      setTimeout(() => {
        truncateSync(path, 0);
        answer.resume();
      }, 200);
      answer.on('error', () => resolve('cut off')).on('end', () => resolve('ended'));
    });
    asked.on('error', reject).end();
  });
  assert.equal(await Promise.race([ended, sleep(PATIENCE_MS, undefined, { ref: false })]), 'cut off');
});

test('for a client that has left no program is run', async (t) => {
  const { base, get } = await start(t, {
    journal: 'touch "$(dirname "$0")/ran"; exec sleep 3',
    before: async (request, reply) => {
      if (request.url.includes('stays')) return;
      request.raw.socket.destroy();
      await once(reply.raw, 'close');
    },
  });
  await assert.rejects(get('/logs/?query=known&pattern=leaves'));
  await sleep(1_000);
  assert.equal(existsSync(join(base, 'ran')), false);
  get('/logs/?query=known&pattern=stays').catch(() => undefined);
  await waitFor('the program', () => (existsSync(join(base, 'ran')) ? true : undefined));
});
