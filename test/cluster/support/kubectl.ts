import { spawn } from 'node:child_process';
import { RunningCommand } from './running-command.ts';

/** Longest time of one call, ms: what does not come to an end is a failure and no hang. */
const LONGEST_CALL_MS = 300_000;

/** How a kubectl call ended. */
export interface KubectlResult {
  code: number;
  out: string;
  err: string;
}

/** The real kubectl with the admin's kubeconfig. */
export class Kubectl {
  readonly kubeconfig: string;
  private readonly program: string;

  constructor(program: string, kubeconfig: string) {
    this.program = program;
    this.kubeconfig = kubeconfig;
  }

  /** Runs it and returns its output; throws with what it said when it failed. */
  async run(args: readonly string[], stdin?: string | object): Promise<string> {
    const result = await this.try(args, stdin);
    if (result.code !== 0) throw new Error(`kubectl ${args.join(' ')}: exit code ${result.code}\n${result.err}`);
    return result.out;
  }

  /** Starts it and returns while it runs; `env` is added to its environment. */
  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningCommand {
    const [program = '', ...rest] = this.argv(args);
    return new RunningCommand(program, rest, { ...this.environment, ...env });
  }

  /** The command line of a call, for a terminal of its own. */
  argv(args: readonly string[]): string[] {
    // no file cache of API discovery: it would be left in a home folder
    return [this.program, '--cache-dir', '/dev/null', ...args];
  }

  /** What a call needs in its environment. */
  get environment(): Record<string, string> {
    return { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', KUBECONFIG: this.kubeconfig };
  }

  /** Runs it, also when it fails. */
  try(args: readonly string[], stdin?: string | object): Promise<KubectlResult> {
    return new Promise((resolve, reject) => {
      const options = { env: this.environment, timeout: LONGEST_CALL_MS, killSignal: 'SIGKILL' } as const;
      const [program = '', ...rest] = this.argv(args);
      const child = spawn(program, rest, options);
      let out = '';
      let err = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
      child.once('error', reject);
      child.once('close', (code) => resolve({ code: code ?? -1, out, err }));
      child.stdin.on('error', () => undefined);
      child.stdin.end(stdin === undefined ? '' : typeof stdin === 'string' ? stdin : JSON.stringify(stdin));
    });
  }
}
