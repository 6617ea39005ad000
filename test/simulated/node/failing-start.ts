import { pino } from 'pino';
import type { EmbeddedNode } from '../../../bin/library.ts';
import { startEmbeddedNode } from '../../../bin/library.ts';
import { countLeft, warmPool, whatIsLeft } from './what-is-left.ts';
import type { Left } from './what-is-left.ts';

/*
 * A program around a node whose start fails, or that stops it. Prints what became of it and what of the node is left in
 * the process; it ends by itself only when nothing keeps it alive.
 */

/** What is left, and why the start failed; `error` null: it did not, and the node was stopped. */
export interface Outcome extends Left {
  error: { code?: string; message: string } | null;
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
const before = countLeft();
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
Object.assign(outcome, await whatIsLeft(before));
process.stdout.write(JSON.stringify(outcome));
