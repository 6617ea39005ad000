import { readFileSync, statSync } from 'node:fs';
import { isMainThread, threadId } from 'node:worker_threads';

/**
 * Loaded into the agent of a soak (`node --import`): a worker thread cannot be killed from outside, so each ends itself
 * without a word when the file named by SOAK_END_WORKERS changes: all of them when it says `all`, else those with even or
 * odd numbers.
 */
const file = process.env['SOAK_END_WORKERS'];
if (file !== undefined && !isMainThread) {
  const read = (): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const begin = read();
  setInterval(() => {
    if (read() === begin) return;
    const who = readFileSync(file, 'utf8').trim();
    if (who === 'all' || who === (threadId % 2 === 0 ? 'even' : 'odd')) process.exit(1);
  }, 100).unref();
}
