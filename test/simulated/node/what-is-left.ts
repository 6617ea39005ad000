import { createHook } from 'node:async_hooks';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';

/** Looks until something that goes by itself must have gone: half a minute, and more on a busy machine. */
const TURNS = 3_000;

/** What a node can leave behind in its process. */
export interface Left {
  threads: number;
  sockets: number;
  children: number;
}

/** What is there now, of the whole process; Node's own pool counts, see {@link warmPool}. */
export function countLeft(): Left {
  return { threads: readdirSync('/proc/self/task').length, sockets: sockets(), children: children() };
}

/** Has Node start all threads of its own pool, which stay. */
export async function warmPool(): Promise<void> {
  await Promise.all(Array.from({ length: 16 }, () => readdir('/proc/self/fd')));
}

/** Waits until nothing is left that was not there `before`: what was closed goes in the next turns of the event loop. */
export async function whatIsLeft(before: Left): Promise<Left> {
  const more = (): Left => {
    const { threads, sockets, children } = countLeft();
    return {
      threads: threads - before.threads,
      sockets: sockets - before.sockets,
      children: children - before.children,
    };
  };
  for (let turn = 0; turn < TURNS && Object.values(more()).some((count) => count > 0); turn++) await nextLook();
  return more();
}

/** Where timers were set, as stacks, that are neither over nor cleared; also those that keep no process alive. */
export class OpenTimers {
  private readonly stacks = new Map<number, string>();

  constructor() {
    createHook({
      init: (id, type) => {
        if (type !== 'Timeout') return;
        const stack = new Error('set').stack ?? '';
        this.stacks.set(id, stack.split('\n').slice(1).join('\n'));
      },
      destroy: (id) => void this.stacks.delete(id),
    }).enable();
  }

  ids(): Set<number> {
    return new Set(this.stacks.keys());
  }

  /** Those that are not in `before`. Waits as {@link whatIsLeft} does. */
  async since(before: ReadonlySet<number>): Promise<string[]> {
    // Nor those of the looks here.
    const open = () =>
      [...this.stacks]
        .filter(([id, stack]) => !before.has(id) && !stack.includes(import.meta.filename))
        .map(([, stack]) => stack);
    for (let turn = 0; turn < TURNS && open().length > 0; turn++) await nextLook();
    return open();
  }
}

function nextLook(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
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
