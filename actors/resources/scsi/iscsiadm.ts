import { ActorletError } from '../../../machines/errors/define.ts';
import { pluginErrors } from '../../../machines/errors/plugin-errors.ts';
import { howEnded, runProgram } from '../../host/files/program.ts';
import { VolumeFailure } from '../volumes/volume-plugin.ts';

/** Exit statuses of `iscsiadm` (open-iscsi, include/iscsi_err.h) that are no failure of what was asked. */
export const ISCSI_STATUS = { noSession: 2, sessionExists: 15, noRecord: 21 } as const;

/** How a call of `iscsiadm` has ended. */
export interface IscsiAnswer {
  status: number | null;
  /** Null when it worked, else how it ended, as Go says it. */
  problem: string | null;
  output: string;
}

/**
 * `iscsiadm`, open-iscsi's command. Its arguments may hold passwords, so they are neither logged nor part of a failure, and what it prints has none of those
 * that it was told.
 */
export class IscsiAdm {
  private readonly program: string;
  private readonly signal: AbortSignal;
  private readonly hidden: string[] = [];

  constructor(program: string, signal: AbortSignal) {
    this.program = program;
    this.signal = signal;
  }

  /** Rejects when there is no such program, and when it was given up: what it was about may be done, or under way. */
  async run(...args: string[]): Promise<IscsiAnswer> {
    const ended = await runProgram(this.program, args, this.signal);
    if (ended.missing) throw new ActorletError(pluginErrors.noIscsiadm);
    if (this.signal.aborted) throw new VolumeFailure('Canceled', 'signal: killed', { done: false });
    const output = this.hidden.reduce((text, secret) => text.replaceAll(secret, '***'), ended.output);
    return { status: ended.status, problem: ended.status === 0 ? null : howEnded(ended), output };
  }

  /** The same with a value that nobody is to see. */
  runHidden(args: string[], value: string): Promise<IscsiAnswer> {
    this.hidden.push(value);
    return this.run(...args, '-v', value);
  }
}
