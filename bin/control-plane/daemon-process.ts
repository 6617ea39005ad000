import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { systemPath } from '../../cri/private-containerd/run-command.ts';

/** How long an end may take, ms: on a machine of fifty others, too. */
const PATIENCE_MS = 240_000;

/** How a process ended. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** What to run. */
export interface DaemonWish {
  /** Word for messages, e.g. `kube-apiserver`. */
  name: string;
  program: string;
  args: readonly string[];
  /** stdout and stderr are added to this file. */
  logFile: string;
  /** Path of a network namespace to run in. */
  netns?: string | undefined;
  env?: NodeJS.ProcessEnv;
  /** A Ctrl-C in the terminal is not for it. */
  ownGroup?: boolean;
}

/** A child process with a log file that dies with whoever started it, however that ends. */
export class DaemonProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** When it was spawned, ms since the epoch. */
  readonly spawnedAt = performance.timeOrigin + performance.now();
  /** Resolves when the process is gone. */
  readonly ended: Promise<Ended>;
  private readonly child: ChildProcess;
  private over: Ended | null = null;

  constructor(wish: DaemonWish) {
    this.name = wish.name;
    this.logFile = wish.logFile;
    const out = openSync(wish.logFile, 'a', 0o600);
    // setpriv and nsenter become the program: the pid is the program's own
    const argv = ['--pdeathsig', 'KILL', ...(wish.netns === undefined ? [] : ['nsenter', `--net=${wish.netns}`])];
    this.child = spawn('setpriv', [...argv, wish.program, ...wish.args], {
      stdio: ['ignore', out, out],
      detached: wish.ownGroup ?? false,
      env: { PATH: systemPath(), HOME: process.env['HOME'] ?? '/root', ...wish.env },
    });
    closeSync(out);
    this.pid = this.child.pid ?? 0;
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

  /** Throws with its last words when it has ended. */
  async mustRun(): Promise<void> {
    if (this.over !== null) throw new Error(`${this.name} ended: ${JSON.stringify(this.over)}\n${await this.tail()}`);
  }

  /** It answers nobody until {@link resume}, and its connections stay. */
  pause(): void {
    this.child.kill('SIGSTOP');
  }

  resume(): void {
    this.child.kill('SIGCONT');
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** SIGTERM and its end; SIGKILL when that does not come within `graceMs`. */
  async terminate(graceMs = PATIENCE_MS): Promise<Ended> {
    this.child.kill('SIGTERM');
    const late = setTimeout(() => this.child.kill('SIGKILL'), graceMs);
    try {
      return await this.ended;
    } finally {
      clearTimeout(late);
    }
  }

  /** The last lines of its log, for the message of a failure. */
  async tail(lines = 30): Promise<string> {
    const text = await readFile(this.logFile, 'utf8').catch(() => '');
    return text.trimEnd().split('\n').slice(-lines).join('\n');
  }
}
