import { writeFileSync } from 'node:fs';
import { status } from '@grpc/grpc-js';
import { messageOf } from '../../machines/values/message-of.ts';
import type { ExecSyncRequest, ExecSyncResponse } from '../generated/runtime/v1/api.ts';
import type { CallContext } from './call-context.ts';
import { findRunning } from './find-container.ts';
import type { RuntimeHandlers } from './handlers.ts';
import { asksEnvironment, playCommand } from './play/play.ts';
import type { Played } from './play/play.ts';
import { drawBetween, hexId } from './prng.ts';
import { attemptOf, whenExits } from './processes.ts';
import type { ContainerRecord } from './records.ts';
import { findSandbox } from './sandbox-service.ts';
import { refused, RpcError, scripted } from './rpc-error.ts';
import type { SimCore } from './sim-core.ts';
import type { Timer } from './sim-time.ts';

/** Where the streaming URLs point. Nothing listens there: the simulated runtime has no processes to stream from. */
const STREAMING_HOST = 'http://127.0.0.1:10010';
const KILLED = 137;

/** RuntimeService's part about commands, streams and checkpoints. */
export function execHandlers(
  core: SimCore,
): Pick<RuntimeHandlers, 'execSync' | 'exec' | 'attach' | 'portForward' | 'checkpointContainer'> {
  const url = (kind: string, id: string): string =>
    `${STREAMING_HOST}/${kind}/${hexId(core.seed, kind, id, core.idsGiven++).slice(0, 8)}`;
  return {
    execSync: (request, call) => execSync(core, request, call),
    exec: ({ containerId }) => ({ url: url('exec', findRunning(core, containerId).id) }),
    attach: ({ containerId }) => ({ url: url('attach', findRunning(core, containerId).id) }),
    portForward: ({ podSandboxId }) => ({ url: url('portforward', findSandbox(core, podSandboxId).id) }),
    checkpointContainer: ({ containerId, location }) => {
      if (!core.plan.runtime.supportsCheckpoint) {
        throw new RpcError(status.UNIMPLEMENTED, 'method CheckpointContainer not implemented');
      }
      const record = findRunning(core, containerId);
      try {
        writeFileSync(location, `${JSON.stringify({ simulated: true, id: record.id, config: record.config })}\n`, {
          mode: 0o600,
        });
      } catch (cause) {
        throw refused(`failed to write checkpoint: ${messageOf(cause)}`);
      }
      return {};
    },
  };
}

/** Answers as scripted; the request's timeout (seconds, 0 = none) gives DeadlineExceeded, the container's end 137. */
async function execSync(core: SimCore, request: ExecSyncRequest, call: CallContext): Promise<ExecSyncResponse> {
  const record = findRunning(core, request.containerId);
  const answer = core.exec.next(record, request.cmd);
  if (answer === undefined) return playedExec(core, record, request, call);
  if (answer.fail !== undefined) throw scripted(answer.fail);
  const { namespace, name } = record.sandbox.metadata;
  const runs = [...(record.execCounts?.values() ?? [])].reduce((sum, count) => sum + count, 0);
  const takes = answer.hang
    ? Infinity
    : drawBetween(
        answer.takes,
        core.seed,
        'exec',
        namespace,
        name,
        record.metadata.name,
        record.metadata.attempt,
        runs,
      );
  const seconds = Number(request.timeout);
  const limit = seconds > 0 ? seconds * 1000 : Infinity;
  const wait = Math.min(takes, limit);
  if (wait > 0) {
    const died = await call.until((done) => whenExits(record, done), wait === Infinity ? undefined : wait);
    if (died) return output(KILLED, '', '');
  }
  if (takes > limit) {
    throw timedOut(seconds);
  }
  return output(answer.code, answer.stdout, answer.stderr);
}

/** A command that nothing is scripted for: played where the container plays its own and knows it, or where it only asks for the environment; else it succeeds. */
async function playedExec(
  core: SimCore,
  record: ContainerRecord,
  { cmd, timeout }: ExecSyncRequest,
  call: CallContext,
): Promise<ExecSyncResponse> {
  const attempt = attemptOf(record);
  const timers = new Set<Timer>();
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = core.timers.after(ms, () => {
        timers.delete(timer);
        resolve();
      });
      timers.add(timer);
    });
  const plays = (attempt !== undefined && 'plays' in attempt) || asksEnvironment(cmd);
  const playing = plays ? playCommand(record, cmd, { sleep }) : undefined;
  if (playing === undefined) return output(0, '', '');
  let played: Played | undefined;
  const seconds = Number(timeout);
  try {
    const over = await call.until(
      (done) => {
        void playing.then((result) => {
          played = result;
          done();
        });
        return whenExits(record, done);
      },
      seconds > 0 ? seconds * 1000 : undefined,
    );
    if (!over) throw timedOut(seconds);
  } finally {
    for (const timer of timers) timer.cancel();
  }
  return played === undefined ? output(KILLED, '', '') : output(played.code, played.stdout, played.stderr);
}

function timedOut(seconds: number): RpcError {
  const problem = `timeout ${seconds}s exceeded: context deadline exceeded`;
  return new RpcError(status.DEADLINE_EXCEEDED, `failed to exec in container: ${problem}`);
}

function output(exitCode: number, stdout: string, stderr: string): ExecSyncResponse {
  return { exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
}
