import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '../../../tools/wait-for.ts';
import { stopOnSignal } from '../../support/end-with-test.ts';

const run = promisify(execFile);

/** A real terminal: a tmux server of its own with one pane. */
export class Terminal {
  private readonly dir: string;
  private readonly forget: () => void;

  private constructor(dir: string) {
    this.dir = dir;
    this.forget = stopOnSignal(() => this.stop());
  }

  /** Opens a terminal of that size with a command in it; its exit code is shown when it ends. */
  static async open(
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
    size: { columns: number; rows: number },
  ): Promise<Terminal> {
    const terminal = new Terminal(await mkdtemp(join(tmpdir(), 'tty-')));
    try {
      const geometry = ['-x', String(size.columns), '-y', String(size.rows)];
      const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
      const command = `${argv.map(quoted).join(' ')}; echo "ended with $?"; sleep 1000`;
      await terminal.tmux('-f', '/dev/null', 'new-session', '-d', ...geometry, ...variables, 'sh', '-c', command);
      return terminal;
    } catch (error) {
      await terminal.stop();
      throw error;
    }
  }

  /** Types a text, then Enter. */
  async type(text: string): Promise<void> {
    await this.tmux('send-keys', '-l', text);
    await this.tmux('send-keys', 'Enter');
  }

  /** Presses a key by tmux's name for it, e.g. `C-c`. */
  async press(key: string): Promise<void> {
    await this.tmux('send-keys', key);
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.tmux('resize-window', '-x', String(columns), '-y', String(rows));
  }

  /** What is on the screen. */
  async screen(): Promise<string> {
    return this.tmux('capture-pane', '-p', '-J', '-S', '-200');
  }

  /** Waits until the screen fits; what was there before counts, too. */
  async waitFor(pattern: RegExp): Promise<void> {
    await waitFor(
      `${String(pattern)} on the terminal`,
      async () => (pattern.test(await this.screen()) ? true : undefined),
      () => this.screen(),
    );
  }

  /** Ends the terminal and what runs in it; may be called twice. */
  async stop(): Promise<void> {
    await this.tmux('kill-server').catch(() => undefined);
    await rm(this.dir, { recursive: true, force: true });
    this.forget();
  }

  private async tmux(...args: string[]): Promise<string> {
    // not inside another tmux, and a language whose letters are bytes of UTF-8
    const env = { PATH: process.env['PATH'] ?? '', HOME: this.dir, TERM: 'xterm', LC_ALL: 'C.UTF-8', SHELL: '/bin/sh' };
    return (await run('tmux', ['-S', join(this.dir, 'tmux'), ...args], { env })).stdout;
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
