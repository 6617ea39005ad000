import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

const ROOT = join(import.meta.dirname, '../../..');
const JOURNAL = join(ROOT, 'test/pure/journal/releases/0.1.0/node-shard-00-00000001.jsonl.gz');

/** Notes each module that Node loads and writes their addresses into `LOADED_TO` at the end. */
const NOTE_MODULES = `
import { registerHooks } from 'node:module';
import { writeFileSync } from 'node:fs';
const loaded = [];
registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
process.on('exit', () => writeFileSync(process.env.LOADED_TO, JSON.stringify(loaded)));
`;

interface Run {
  output: string;
  /** `actors/node`, `commander`: folders of the rooms, and names of packages. */
  loaded: Set<string>;
}

/** What a command may load besides `bin/` and commander. A folder stands for the folders in it, too. */
const READS_JOURNALS = [
  'machines',
  'xstate',
  'zod',
  'actors/record/journal',
  'actors/record/machines',
  'actors/inspect/explain',
  'actors/configure/configuration',
];
const FLAGS = ['machines/errors', 'machines/values', 'actors/configure/configuration'];
const SERVES_HTTP = ['fastify', 'pino', 'ws'];

const CASES: { args: string[]; may: string[]; says: RegExp; packages?: 'those of the named ones' }[] = [
  { args: ['--version'], may: FLAGS, says: /^Kubernetes v1\./ },
  { args: ['--help'], may: FLAGS, says: /Usage: actorlet/ },
  { args: ['--no-such-flag'], may: FLAGS, says: /CFG\d+.*no-such-flag/ },
  {
    args: ['no-such-command'],
    may: ['machines/errors', 'actors/configure/configuration'],
    says: /CFG025.*no-such-command/,
  },
  { args: ['pods', '--help'], may: ['machines/errors'], says: /--server/ },
  {
    args: ['pods', '--server', 'http://127.0.0.1:1'],
    may: ['machines/errors', 'actors/configure/configuration'],
    says: /SRV002/,
  },
  { args: ['explain', '--help'], may: ['machines/errors'], says: /--journal/ },
  { args: ['explain', 'nobody', '--journal', JOURNAL], may: READS_JOURNALS, says: /EXP\d+/ },
  { args: ['pressure', '--help'], may: ['machines/errors'], says: /--journal/ },
  {
    args: ['pressure', '--journal', JOURNAL],
    may: [...READS_JOURNALS, 'actors/inspect/pressure'],
    says: /PRS002/,
  },
  { args: ['replay', '--help'], may: [], says: /--export/ },
  { args: ['replay', JOURNAL], may: READS_JOURNALS, says: /^identical/ },
  { args: ['machines'], may: ['machines', 'xstate', 'zod'], says: /^pod$/m },
  { args: ['doctor', '--help'], may: [], says: /--root-dir/ },
  { args: ['sim', '--help'], may: ['machines/errors'], says: /--socket/ },
  { args: ['nodes', '--help'], may: ['machines/errors'], says: /--profile/ },
  {
    args: ['inspect', '--help'],
    may: ['machines/errors', 'actors/configure/configuration', 'actors/inspect/inspector'],
    says: /--port/,
  },
  {
    args: ['inspect', '/no/such/journal'],
    may: [...READS_JOURNALS, 'actors/inspect/inspector'],
    says: /JRN001/,
  },
  {
    args: ['inspect', '--no-open', '--port', '0', JOURNAL],
    may: [
      ...READS_JOURNALS,
      ...SERVES_HTTP,
      'actors/inspect/inspector',
      'actors/serve/server',
      'actors/record/logging',
      // What writes the address with its token where only root reads it.
      'actors/host/files',
    ],
    packages: 'those of the named ones',
    says: /token=/,
  },
];

/** Never for a command that only looks: the agent, the API client's package, gRPC, the thread pool, metrics. */
const AGENT = [
  ...[
    'actors/node',
    'actors/pods/shard',
    'actors/pods/supervisor',
    'actors/cluster/api',
    'actors/record/metrics',
    'actors/runtime/pleg',
    'cri',
  ],
  ...['@kubernetes/client-node', '@grpc/grpc-js', 'piscina', 'prom-client'],
];

describe('each command loads what it needs and no agent', () => {
  let dir: string;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'loaded-'));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  let runs = 0;
  async function run(args: readonly string[], says: RegExp): Promise<Run> {
    const file = join(dir, `${String(runs++)}.json`);
    const hook = `data:text/javascript,${encodeURIComponent(NOTE_MODULES)}`;
    const child = spawn(process.execPath, ['--import', hook, join(ROOT, 'bin/actorlet.ts'), ...args], {
      env: { PATH: process.env['PATH'], LOADED_TO: file },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => {
        output += data.toString();
        // What serves until it is told to end has said all that is waited for.
        if (args.includes('--no-open') && says.test(output) && !child.killed) child.kill('SIGTERM');
      });
    await new Promise((done) => child.once('close', done));
    const urls = JSON.parse(await readFile(file, 'utf8')) as string[];
    return { output, loaded: new Set(urls.flatMap((url) => placeOf(url) ?? [])) };
  }

  for (const { args, may, says, packages } of CASES) {
    it(args.map((arg) => arg.replace(ROOT, '.')).join(' '), async () => {
      const { output, loaded } = await run(args, says);
      assert.match(output, says);
      const within = (place: string, folders: readonly string[]) =>
        folders.some((folder) => place === folder || place.startsWith(`${folder}/`));
      assert.deepEqual(
        [...loaded].filter((place) => within(place, AGENT)),
        [],
        'nothing of the agent',
      );
      const known = ['bin', 'commander', ...may];
      const isRoom = (place: string) => /^(?:actors|cri|machines|bin)(?:\/|$)/.test(place);
      assert.deepEqual(
        [...loaded].filter((place) => !within(place, known) && (packages === undefined || isRoom(place))),
        [],
        'nothing that this command does not need',
      );
      // Guards the reading of the list itself.
      assert.ok(loaded.has('bin/actorlet'), [...loaded].join());
    });
  }
});

/** `actors/node/node.ts` -> `actors/node`, `machines/values/quantity.ts` -> `machines/values`, `node_modules/@a/b/c.js` -> `@a/b`; null for Node's own. */
function placeOf(url: string): string | null {
  const inPackage = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//g;
  const last = [...url.matchAll(inPackage)].at(-1)?.[1];
  if (last !== undefined) return last;
  const base = new URL(`file://${ROOT}/`).href;
  if (!url.startsWith(base)) return null;
  const parts = url
    .slice(base.length)
    .replace(/\.[jt]s$/, '')
    .split('/');
  // A file that lies in the room itself is named.
  return parts.slice(0, Math.max(2, parts.length - 1)).join('/');
}
