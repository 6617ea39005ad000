import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { PATIENCE_MS, waitFor } from '../../../tools/wait-for.ts';

const MAIN = fileURLToPath(new URL('../../../../bin/actorlet.ts', import.meta.url));

/** How a process ended. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** One life of the daemon: a real process, `bin/actorlet FLAGS`. */
export class AgentProcess {
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when the process is gone. */
  readonly ended: Promise<Ended>;
  private readonly child: ChildProcess;
  private over: Ended | null = null;

  constructor(flags: readonly string[], logFile: string) {
    const out = openSync(logFile, 'a');
    this.child = spawn(process.execPath, [MAIN, ...flags], { stdio: ['ignore', out, out] });
    closeSync(out);
    this.pid = this.child.pid ?? 0;
    this.logFile = logFile;
    this.ended = new Promise((resolve) => {
      const end = (ended: Ended) => resolve((this.over = ended));
      this.child.once('exit', (code, signal) => end({ code, signal }));
      this.child.once('error', () => end({ code: -1, signal: null }));
    });
  }

  /** How it ended, null while it runs. */
  get exit(): Ended | null {
    return this.over;
  }

  /** Waits until `/healthz` says ok (or the process has ended: then it throws with its last words). */
  async healthy(port: number): Promise<void> {
    await waitFor(
      'a healthy agent',
      async () => {
        if (this.over !== null) return 'ended';
        const reply = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(2_000) });
        return reply.ok ? 'ok' : undefined;
      },
      () => this.tail(),
    );
    if (this.over !== null) throw new Error(`the agent ended: ${JSON.stringify(this.over)}\n${await this.tail()}`);
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** SIGTERM and its end; SIGKILL when it does not come. */
  async terminate(): Promise<Ended> {
    this.child.kill('SIGTERM');
    const late = setTimeout(() => this.child.kill('SIGKILL'), PATIENCE_MS);
    try {
      return await this.ended;
    } finally {
      clearTimeout(late);
    }
  }

  /** The last lines of its log, for the message of a failure. */
  async tail(lines = 40): Promise<string> {
    const text = await readFile(this.logFile, 'utf8').catch(() => '');
    return text.trimEnd().split('\n').slice(-lines).join('\n');
  }
}
