import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { pino } from 'pino';
import type { EmbeddedNode } from '../../../bin/library.ts';
import { startEmbeddedNode } from '../../../bin/library.ts';

/*
 * A program around a node whose start fails, or that stops it. Prints what became of it and what of the node is left in
 * the process; it ends by itself only when nothing keeps it alive.
 */

/** What is left, and why the start failed; `error` null: it did not, and the node was stopped. */
export interface Outcome {
  error: { code?: string; message: string } | null;
  threads: number;
  sockets: number;
  children: number;
  /** What the node logged at level error. */
  told: string[];
}

/** What to do: options of the node without what cannot be written as JSON. */
export interface Task extends Pick<EmbeddedNode, 'endpoint' | 'rootDir' | 'configuration' | 'flags'> {
  containerLogsDir: string;
  runtimePatienceMs?: number;
  /** Stop of the embedder's source. */
  ownStop?: 'rejects' | 'hangs';
}

const task = JSON.parse(process.argv[2] ?? '{}') as Task;
const told: string[] = [];
const log = pino({ level: 'error' }, { write: (line: string) => void told.push(line) });
const { ownStop, ...options } = task;
await warmPool();
const before = { threads: threads(), sockets: sockets() };
const outcome: Outcome = { error: null, threads: 0, sockets: 0, children: 0, told };
try {
  const stop = ownStop === 'hangs' ? () => new Promise<void>(() => undefined) : () => Promise.reject(new Error('own'));
  const source = ownStop === undefined ? {} : { source: { name: 'own', start: () => undefined, stop } };
  const node = await startEmbeddedNode({ ...options, ...source, log });
  await node.stop();
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  outcome.error = { code, message };
}
// Threads and sockets that were closed go in the next turns of the event loop.
for (let turn = 0; turn < 200 && (threads() > before.threads || sockets() > before.sockets); turn++)
  await new Promise((resolve) => setTimeout(resolve, 10));
outcome.threads = threads() - before.threads;
outcome.sockets = sockets() - before.sockets;
outcome.children = children();
process.stdout.write(JSON.stringify(outcome));

/** Of the whole process: those of Node's own pool were there before, see {@link warmPool}. */
function threads(): number {
  return readdirSync('/proc/self/task').length;
}

/** Has Node start all threads of its own pool, which stay. */
async function warmPool(): Promise<void> {
  await Promise.all(Array.from({ length: 16 }, () => readdir('/proc/self/fd')));
}

function sockets(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
    } catch {
      return false;
    }
  }).length;
}

function children(): number {
  const lists = readdirSync('/proc/self/task').map((thread) => {
    try {
      return readFileSync(`/proc/self/task/${thread}/children`, 'utf8');
    } catch {
      return '';
    }
  });
  return lists.join(' ').split(' ').filter(Boolean).length;
}
