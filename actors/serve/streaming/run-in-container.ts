import { messageOf } from '../../../machines/values/message-of.ts';
import { Refusal } from './refusal.ts';
import { runningContainer } from './stream-requests.ts';
import type { StreamParams, StreamRuntime } from './stream-requests.ts';

/**
 * `/run`: runs a command to its end, without limit of time, and resolves to its stdout followed by its stderr.
 * @throws Refusal 500 for a command that fails and for every trouble of the runtime, as kubelet answers
 */
export async function runInContainer(
  cri: StreamRuntime,
  params: StreamParams,
  cmd: readonly string[],
  signal: AbortSignal,
): Promise<Buffer> {
  try {
    const containerId = await runningContainer(cri, params, signal);
    const result = await cri.runtime.execSync({ containerId, cmd: [...cmd], timeout: '0' }, { signal });
    if (result.exitCode === 0) return Buffer.concat([result.stdout, result.stderr]);
    const code = String(result.exitCode);
    throw new Refusal(500, `command '${cmd.join(' ')}' exited with ${code}: ${result.stderr.toString()}`);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(500, messageOf(error), { cause: error });
  }
}
