import { execFile } from 'node:child_process';

/** One family's program. Seconds that it waits for another process to let go of the rules are kubelet's. */
const WAIT = ['-w', '5'];
const TIMEOUT_MS = 30_000;

/** Exit code and words of a program; code null: it could not be run, or did not end in time. */
export interface Ran {
  code: number | null;
  words: string;
}

/** Runs a program; does not reject. */
export type RunProgram = (program: string, args: readonly string[]) => Promise<Ran>;

/** Runs it on this machine. */
export const runProgram: RunProgram = (program, args) =>
  new Promise((resolve) => {
    execFile(program, [...args], { timeout: TIMEOUT_MS, encoding: 'utf8' }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ code, words: `${stdout}${stderr}`.trim() || (error?.message ?? '') });
    });
  });

/** Chains and rules of one IP family, as kubelet's `util/iptables` handles them: each call makes sure of one thing. */
export class Iptables {
  readonly protocol: 'IPv4' | 'IPv6';
  private readonly program: string;
  private readonly run: RunProgram;

  constructor(protocol: 'IPv4' | 'IPv6', run: RunProgram = runProgram) {
    this.protocol = protocol;
    this.program = protocol === 'IPv4' ? 'iptables' : 'ip6tables';
    this.run = run;
  }

  /** Is this family's program here, and does the kernel know its tables? */
  async present(): Promise<boolean> {
    return this.chainExists('nat', 'POSTROUTING');
  }

  /** Is the chain there? */
  async chainExists(table: string, chain: string): Promise<boolean> {
    const { code } = await this.call('-S', chain, table, []);
    return code === 0;
  }

  /** Makes the chain unless it is there. Throws when it cannot be made. */
  async ensureChain(table: string, chain: string): Promise<void> {
    const { code, words } = await this.call('-N', chain, table, []);
    // 1 says that it is there already.
    if (code !== 0 && code !== 1) throw new Error(`error creating chain "${chain}": ${words}`);
  }

  /** Puts the rule first (`prepend`) or last into the chain unless it is in it. Throws when it cannot. */
  async ensureRule(where: 'prepend' | 'append', table: string, chain: string, rule: readonly string[]): Promise<void> {
    const check = await this.call('-C', chain, table, rule);
    if (check.code === 0) return;
    if (check.code !== 1) throw new Error(`error checking rule: ${check.words}`);
    const { code, words } = await this.call(where === 'prepend' ? '-I' : '-A', chain, table, rule);
    if (code !== 0) throw new Error(`error ${where}ing rule: ${words}`);
  }

  private call(what: string, chain: string, table: string, rule: readonly string[]): Promise<Ran> {
    return this.run(this.program, [...WAIT, what, chain, '-t', table, ...rule]);
  }
}
