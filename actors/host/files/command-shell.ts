import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { codeOf } from './host-failure.ts';

/** How a command ended: its exit status (null when it was killed or could not run) and all that it printed. */
export interface CommandResult {
  status: number | null;
  output: string;
}

interface Job {
  command: string;
  args: string[];
  resolve: (result: CommandResult) => void;
}

interface Shell {
  child: ChildProcess;
  input: Socket;
  output: Socket;
  token: string;
  text: string;
  job: Job | null;
  stuck: boolean;
  timers: NodeJS.Timeout[];
}

/** Reads one command a line, prints what it prints and then the token with its status. Ends with its input. */
const SCRIPT = `while IFS= read -r line; do eval "$line" </dev/null 2>&1; printf '\\n%s %s\\n' "$0" "$?"; done`;

/**
 * Runs short commands through a small shell that stays. Node forks the whole agent for each child process, which takes
 * 3-5 ms of CPU with the event loop at a halt (measured at 130-250 MiB); the shell does it in a tenth. The commands
 * of one shell run one after the other; a shell whose command hangs is left alone and another one takes over, so that
 * one dead file server holds up nobody else. The shells end with the agent, and hold up neither its end nor a test's.
 */
export class CommandShell {
  private readonly stuckMs: number;
  private readonly timeoutMs: number;
  private readonly queue: Job[] = [];
  private readonly shells = new Set<Shell>();

  /** `stuckMs`: a command that takes longer gets company. `timeoutMs`: it is killed. */
  constructor(stuckMs: number, timeoutMs: number) {
    this.stuckMs = stuckMs;
    this.timeoutMs = timeoutMs;
  }

  /** Runs a command found in PATH, with the C locale and no input. Never rejects. */
  run(command: string, args: string[]): Promise<CommandResult> {
    // The shell takes one command a line.
    if ([command, ...args].some((word) => /[\n\0]/.test(word))) return runDirectly(command, args, this.timeoutMs);
    return new Promise((resolve) => {
      this.queue.push({ command, args, resolve });
      this.pump();
    });
  }

  /** Ends the shells that have nothing to do, and waits until they have; the next command gets a new one. */
  async rest(): Promise<void> {
    const idle = [...this.shells].filter(({ job }) => job === null);
    const ends = idle.map(async (shell) => {
      // No command comes to it any more.
      shell.stuck = true;
      for (const held of [shell.child, shell.output]) held.ref();
      const closed = new Promise<void>((resolve) =>
        shell.child.once('error', () => resolve()).once('close', () => resolve()),
      );
      shell.input.end();
      await closed;
    });
    await Promise.all(ends);
  }

  private pump(): void {
    const working = [...this.shells].find((shell) => !shell.stuck);
    if (working?.job || this.queue.length === 0) return;
    const shell = working ?? this.open();
    const job = this.queue.shift();
    if (job === undefined) return;
    if (shell === null) {
      job.resolve({ status: null, output: '' });
      this.pump();
      return;
    }
    shell.job = job;
    shell.timers = [
      setTimeout(() => {
        shell.stuck = true;
        this.pump();
      }, this.stuckMs),
      setTimeout(() => {
        kill(shell.child);
        // What the kernel holds does not die either; nobody waits for it.
        this.end(shell);
      }, this.timeoutMs),
    ];
    for (const held of [shell.child, shell.output]) held.ref();
    shell.input.write(`${[job.command, ...job.args].map(quoted).join(' ')}\n`);
  }

  /** Null when the machine has no process, memory or descriptors left for one. */
  private open(): Shell | null {
    const token = randomUUID();
    // In a group of its own, so that a command that hangs is killed with it; nowhere, so that no mount is held.
    const child = started(token);
    if (child === null) return null;
    const shell: Shell = {
      child,
      input: child.stdin as Socket,
      output: child.stdout as Socket,
      token,
      text: '',
      job: null,
      stuck: false,
      timers: [],
    };
    this.shells.add(shell);
    const ended = (): void => this.end(shell);
    child.on('error', ended).on('close', ended);
    // A shell that died is told by its end.
    shell.input.on('error', () => undefined).unref();
    shell.output.on('error', () => undefined);
    shell.output.setEncoding('utf8').on('data', (text: string) => this.take(shell, text));
    return shell;
  }

  private take(shell: Shell, text: string): void {
    shell.text += text;
    const mark = shell.text.lastIndexOf(`\n${shell.token} `);
    if (mark < 0 || !shell.text.endsWith('\n')) return;
    const status = Number(shell.text.slice(mark + shell.token.length + 2));
    const output = shell.text.slice(0, mark);
    shell.text = '';
    this.finish(shell, { status, output });
    // One shell is enough for what comes next.
    if (shell.stuck) shell.input.end();
    this.pump();
  }

  private end(shell: Shell): void {
    if (!this.shells.delete(shell)) return;
    this.finish(shell, { status: null, output: shell.text });
    this.pump();
  }

  private finish(shell: Shell, result: CommandResult): void {
    for (const timer of shell.timers) clearTimeout(timer);
    for (const held of [shell.child, shell.output]) held.unref();
    const { job } = shell;
    shell.job = null;
    job?.resolve(result);
  }
}

/** Node throws for some reasons, and for others tells an error later of a child that has no pipes. */
function started(token: string): ChildProcess | null {
  try {
    const child = spawn('/bin/sh', ['-c', SCRIPT, token], {
      cwd: '/',
      detached: true,
      env: environment(),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.on('error', () => undefined);
    return child.pid === undefined ? null : child;
  } catch {
    return null;
  }
}

function kill(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function environment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C' };
}

function runDirectly(command: string, args: string[], timeout: number): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout, env: environment(), cwd: '/' }, (error, out, err) => {
      const code = codeOf(error);
      const status = error === null ? 0 : /^\d+$/.test(code) ? Number(code) : null;
      resolve({ status, output: `${out}${err}` });
    });
  });
}
