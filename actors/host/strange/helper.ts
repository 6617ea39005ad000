import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import type { FromHelper, ToHelper } from './strange-calls.ts';

const PROGRAM = new URL(`./helper-process${extname(import.meta.url)}`, import.meta.url);

/** Calls that one process has under way: each that hangs holds a thread of its pool. */
export const THREADS = 16;
/** A process that nobody needs is ended after so long, ms. */
const IDLE_MS = 30_000;

/** What {@link Helper} tells of. */
export interface HelperEvents {
  answer: (answer: FromHelper) => void;
  /** It is gone: no more answers come. */
  gone: () => void;
}

/** A small process that makes file calls for this one, started ahead of its first call and ended when it rests. */
export class Helper {
  private readonly child: ChildProcess;
  private idle: NodeJS.Timeout | undefined;
  /** Calls without an answer. */
  under = 0;
  /** Descriptors that it holds for us. */
  opened = 0;
  /** It was told to end, and may not have yet: a call would get no answer. */
  private ending = false;

  constructor({ answer, gone }: HelperEvents) {
    const { PATH, NODE_COMPILE_CACHE, NODE_V8_COVERAGE } = process.env;
    this.child = fork(PROGRAM, {
      // Nowhere, so that no mount is held; in a group of its own, so that ^C of the agent is for the agent to see.
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: ['--max-semi-space-size=1', '--max-old-space-size=64'],
      env: { PATH, NODE_COMPILE_CACHE, NODE_V8_COVERAGE, MALLOC_ARENA_MAX: '1', UV_THREADPOOL_SIZE: String(THREADS) },
    });
    this.child.on('message', (message: FromHelper) => {
      this.under--;
      answer(message);
      this.rest();
    });
    const ended = (): void => {
      clearTimeout(this.idle);
      gone();
    };
    this.child.on('error', ended).on('exit', ended);
    this.hold(false);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** It takes no more calls. */
  get full(): boolean {
    return this.ending || this.under >= THREADS;
  }

  /** Sends a call. */
  call(message: Extract<ToHelper, { id: number }>): void {
    clearTimeout(this.idle);
    this.under++;
    this.child.send(message, () => undefined);
  }

  /** Closes a descriptor. */
  close(fd: number): void {
    this.opened--;
    this.child.send({ close: fd } satisfies ToHelper, () => undefined);
    this.rest();
  }

  /** Whether this process (or thread) stays because of the helper. */
  hold(held: boolean): void {
    for (const one of [this.child, this.child.channel]) {
      if (held) one?.ref();
      else one?.unref();
    }
  }

  /** Ends it; resolves when it is gone, at once when a call hangs in it: it may stay for as long as that. */
  async end(): Promise<void> {
    const { child } = this;
    const gone = new Promise<void>((resolve) => child.once('error', () => resolve()).once('exit', () => resolve()));
    this.kill();
    if (this.under === 0 && child.exitCode === null && child.signalCode === null) await gone;
  }

  private rest(): void {
    clearTimeout(this.idle);
    if (this.under > 0 || this.opened > 0) return;
    this.idle = setTimeout(() => this.kill(), IDLE_MS);
    this.idle.unref();
  }

  private kill(): void {
    this.ending = true;
    this.child.kill('SIGKILL');
  }
}
