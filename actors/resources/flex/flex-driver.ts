import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { NOT_SUPPORTED, readFlexAnswer } from '../../../machines/flex/flex-answer.ts';
import type { FlexAnswer, FlexCapabilities } from '../../../machines/flex/flex-answer.ts';
import { endOutputsBy } from '../../host/files/end-outputs.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { VolumeFailure } from '../volumes/volume-plugin.ts';

/** How long a driver may take to say what it can do, ms (kubelet waits without limit, and meanwhile looks up no volume at all). */
const INIT_MS = 60_000;

/** Most that is read of what a call prints, bytes. */
const OUTPUT_BYTES = 1 << 20;

/** Its standard error is a part of what it says, in the order in which it was written. */
const BOTH = 'exec "$0" "$@" 2>&1';

/** The program of a FlexVolume driver: each call is a process with arguments, which prints one JSON object. */
export class FlexDriver {
  readonly path: string;
  private readonly unsupported = new Set<string>();
  private beginning: Promise<FlexCapabilities> | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** What it can do: asked for once (`init`), and again after a failure. Rejects in kubelet's words. */
  capabilities(): Promise<FlexCapabilities> {
    const asked = (this.beginning ??= this.begun());
    asked.catch(() => {
      if (this.beginning === asked) this.beginning = undefined;
    });
    return asked;
  }

  /**
   * One call; null when the driver does not have it, which is remembered. Rejects with a {@link VolumeFailure} in kubelet's words, which is `done` unless
   * the call was given up.
   */
  async call(signal: AbortSignal, command: string, ...args: string[]): Promise<FlexAnswer | null> {
    if (this.unsupported.has(command)) return null;
    try {
      return await this.run(signal, command, args);
    } catch (error) {
      if (messageOf(error) === NOT_SUPPORTED) {
        this.unsupported.add(command);
        return null;
      }
      const done = !signal.aborted;
      throw new VolumeFailure('FlexVolume', messageOf(error), { done, cause: error });
    }
  }

  private async begun(): Promise<FlexCapabilities> {
    return (await this.run(AbortSignal.timeout(INIT_MS), 'init', [])).capabilities;
  }

  private async run(signal: AbortSignal, command: string, args: string[]): Promise<FlexAnswer> {
    const there = await access(this.path, constants.X_OK).then(
      () => true,
      () => false,
    );
    const { output, problem } = there
      ? await printed(this.path, [command, ...args], signal)
      : { output: '', problem: null };
    if (signal.aborted) throw new Error(problem ?? 'signal: killed');
    const answer = readFlexAnswer(command, output);
    // It says that it worked, and ends as if it had not.
    if (problem !== null) throw new Error(problem);
    return answer;
  }
}

function printed(
  path: string,
  args: string[],
  signal: AbortSignal,
): Promise<{ output: string; problem: string | null }> {
  const options = { signal, killSignal: 'SIGKILL' as const, maxBuffer: OUTPUT_BYTES };
  return new Promise((resolve) => {
    const child = execFile('/bin/sh', ['-c', BOTH, path, ...args], options, (error, output) => {
      const code: unknown = error === null ? null : error.code;
      const problem = error === null ? null : typeof code === 'number' ? `exit status ${code}` : 'signal: killed';
      resolve({ output, problem });
    });
    endOutputsBy(signal, child);
  });
}
