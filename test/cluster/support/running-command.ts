import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash } from 'node:crypto';
import { finished } from 'node:stream/promises';
import type { Readable } from 'node:stream';

/** How a command ended and what it wrote. */
export interface CommandEnd {
  /** -1 when it was ended by a signal. */
  code: number;
  out: string;
  err: string;
  /** Of all of stdout. */
  sha256: string;
  bytes: number;
}

/** stdout is kept up to here, bytes; it is counted and hashed to its end. */
const KEPT_BYTES = 8 << 20;
/** What does not come is a failure and no hang, ms. */
const PATIENCE_MS = 240_000;

/** A command that runs beside the test: its stdin stays open, and it dies with the test. */
export class RunningCommand {
  readonly ended: Promise<CommandEnd>;
  readonly pid: number;
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly what: string;
  private kept: Buffer[] = [];
  private keptErr = '';
  private over = false;
  private wake: (() => void)[] = [];

  constructor(program: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    this.what = [program.split('/').at(-1), ...args].join(' ').slice(0, 300);
    this.child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], { env });
    this.pid = this.child.pid ?? 0;
    const hash = createHash('sha256');
    let bytes = 0;
    this.child.stdin.on('error', () => undefined);
    this.child.stdout.on('data', (chunk: Buffer) => {
      if (bytes < KEPT_BYTES) this.kept.push(chunk);
      bytes += chunk.length;
      hash.update(chunk);
      this.signal();
    });
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.keptErr += text;
      this.signal();
    });
    this.ended = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('close', (code) => {
        this.over = true;
        resolve({ code: code ?? -1, out: this.out, err: this.err, sha256: hash.digest('hex'), bytes });
        this.signal();
      });
    });
  }

  get out(): string {
    return Buffer.concat(this.kept).toString('utf8');
  }

  get err(): string {
    return this.keptErr;
  }

  /** Whether it has ended. */
  get isOver(): boolean {
    return this.over;
  }

  write(text: string): void {
    this.child.stdin.write(text);
  }

  /** Closes its stdin. */
  end(): void {
    this.child.stdin.end();
  }

  /** Sends all of a stream to its stdin, then closes it. */
  async feed(source: Readable): Promise<void> {
    source.pipe(this.child.stdin);
    await finished(this.child.stdin).catch(() => undefined);
  }

  /** Waits until stdout (or stderr) fits. */
  async waitFor(pattern: RegExp, stream: 'out' | 'err' = 'out'): Promise<RegExpExecArray> {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const found = pattern.exec(this[stream]);
      if (found !== null) return found;
      if (this.over || performance.now() > until) {
        const state = this.over ? 'ended' : 'waited in vain';
        throw new Error(`${this.what}: ${state}, no ${String(pattern)} in ${JSON.stringify([this.out, this.err])}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1_000);
        this.wake.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  /** Waits for its end; kills it and throws when it does not come. */
  async mustEnd(patienceMs = PATIENCE_MS): Promise<CommandEnd> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.child.kill('SIGKILL');
    }, patienceMs);
    const end = await this.ended.finally(() => clearTimeout(timer));
    if (late)
      throw new Error(
        `${this.what}: no end within ${patienceMs} ms, after ${end.bytes} bytes\n${end.err}\n${end.out.slice(-500)}`,
      );
    return end;
  }

  /** Ends it by a signal and waits for its end. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<CommandEnd> {
    if (!this.over) this.child.kill(signal);
    return this.ended;
  }

  private signal(): void {
    for (const wake of this.wake.splice(0)) wake();
  }
}
