import { setTimeout as sleep } from 'node:timers/promises';
import { Metadata } from '@grpc/grpc-js';
import type { Client, CallOptions as GrpcCallOptions } from '@grpc/grpc-js';
import { backOffMs } from '../../machines/values/back-off.ts';
import type { DeepPartial, MessageFns } from '../generated/runtime/v1/api.ts';
import { CriError, fromServiceError, grpcNumber } from './cri-error.ts';
import type { GrpcCode } from './cri-error.ts';
import { isRepeatable } from './methods.ts';
import type { ImageMethod, RuntimeMethod } from './methods.ts';

/** What one finished call reports to metrics; `ms` spans all its attempts. */
export interface CallReport {
  service: 'RuntimeService' | 'ImageService';
  /** As in the contract, e.g. `RunPodSandbox`. */
  method: string;
  ms: number;
  code: GrpcCode;
  /** Of a call that failed: the error, and what was asked. */
  failure?: { error: CriError; request: object };
}

/** One call as it is traced. */
export interface CallTrace {
  /** Metadata for the runtime. */
  headers: Record<string, string>;
  sent(bytes: number): void;
  received(bytes: number): void;
  /** @param code gRPC's number of the status; 0 is OK */
  end(code: number, details: string): void;
}

/** Where metrics and traces attach; must not throw. */
export interface CriHooks {
  onCall?(report: CallReport): void;
  /** Begins the span of a call of this path, e.g. `/runtime.v1.RuntimeService/Version`. */
  trace?(path: string): CallTrace;
}

/** Options of one call. */
export interface CallOptions {
  /** Deadline in ms instead of the method's own; `Infinity` = none. */
  timeoutMs?: number;
  /** How long to repeat after Unavailable, in ms, instead of the client's `retryMs`; 0 = fail at once. */
  retryMs?: number;
  /** Cancels the call (code `Canceled`). */
  signal?: AbortSignal;
}

/** What all calls of a client share. */
export interface CallSettings {
  timeoutMs: number;
  retryMs: number;
  hooks: CriHooks;
}

/** One method on one connection. */
export interface CallTarget<Req, Res> {
  client: Client;
  service: CallReport['service'];
  method: RuntimeMethod | ImageMethod;
  path: string;
  request: MessageFns<Req>;
  /** Reads the answer to this request. */
  decode: (bytes: Buffer, request: Req) => Res;
}

/** Pauses before a call is repeated. */
const PAUSES = { firstMs: 25, maxMs: 200 };

/**
 * Makes the function for one method. A call that fails with Unavailable is repeated, with growing pauses, as
 * long as `retryMs` and the deadline allow, if it surely was not sent or a repetition does no harm.
 */
export function unaryCall<Req, Res>(
  target: CallTarget<Req, Res>,
  settings: CallSettings,
): (request: DeepPartial<Req>, options?: CallOptions) => Promise<Res> {
  const { request: codec, service, method } = target;
  const rpc = target.path.slice(target.path.lastIndexOf('/') + 1);
  const repeatable = isRepeatable(method);
  const encode = (message: Req): Buffer => {
    const bytes = codec.encode(message).finish();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };

  return async (partial, options = {}) => {
    const message = codec.fromPartial(partial);
    const began = performance.now();
    const limit = options.timeoutMs ?? deadlineMs(method, message as object, settings.timeoutMs);
    const grpcOptions: GrpcCallOptions = { deadline: Date.now() + limit };
    const retryUntil = began + Math.min(limit, options.retryMs ?? settings.retryMs);
    const trace = settings.hooks.trace?.(target.path);
    let code: GrpcCode = 'Unknown';
    let failed: CriError | null = null;
    try {
      for (let failures = 1; ; failures++) {
        const pause = backOffMs(failures, PAUSES);
        try {
          const answer = await attempt({ ...target, trace }, rpc, encode, message, grpcOptions, options.signal);
          code = 'OK';
          failed = null;
          return answer;
        } catch (error) {
          if (!(error instanceof CriError)) throw error;
          code = error.code;
          failed = error;
          const again = code === 'Unavailable' && (repeatable || error.notSent);
          if (!again || performance.now() + pause > retryUntil || options.signal?.aborted) throw error;
        }
        // An abort during the pause shows up in the next attempt, as `Canceled`.
        await sleep(pause, undefined, { signal: options.signal }).catch(() => undefined);
      }
    } finally {
      trace?.end(grpcNumber(code), failed?.details ?? '');
      settings.hooks.onCall?.({
        service,
        method: rpc,
        ms: performance.now() - began,
        code,
        ...(failed !== null && { failure: { error: failed, request: message as object } }),
      });
    }
  };
}

function attempt<Req, Res>(
  target: CallTarget<Req, Res> & { trace: CallTrace | undefined },
  rpc: string,
  encode: (message: Req) => Buffer,
  message: Req,
  options: GrpcCallOptions,
  signal: AbortSignal | undefined,
): Promise<Res> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(new CriError(rpc, 'Canceled', 'context canceled', { notSent: true }));
      return;
    }
    const { trace } = target;
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(trace?.headers ?? {})) metadata.set(name, value);
    const call = target.client.makeUnaryRequest(
      target.path,
      (value: Req) => {
        const bytes = encode(value);
        trace?.sent(bytes.length);
        return bytes;
      },
      (bytes) => {
        trace?.received(bytes.length);
        return target.decode(bytes, message);
      },
      message,
      metadata,
      options,
      (error, answer) => {
        signal?.removeEventListener('abort', cancel);
        if (error) reject(fromServiceError(rpc, error));
        else if (answer === undefined) reject(new CriError(rpc, 'Internal', 'the answer is empty'));
        else resolve(answer);
      },
    );
    const cancel = () => {
      call.cancel();
    };
    signal?.addEventListener('abort', cancel, { once: true });
  });
}

/** The fields of requests that a deadline depends on; seconds as protobuf int64. */
interface Timed {
  timeout?: string;
}

/**
 * How long a call may take, in milliseconds, by the kubelet's rules (`base` is its `runtimeRequestTimeout`):
 * twice the base for RunPodSandbox, the request's own timeout plus the base for StopContainer and ExecSync
 * (none for an ExecSync without timeout), the larger of the two for CheckpointContainer, none for PullImage,
 * which is ended by cancellation when it makes no progress.
 */
export function deadlineMs(method: RuntimeMethod | ImageMethod, request: object, base: number): number {
  switch (method) {
    case 'runPodSandbox':
      return base * 2;
    case 'stopContainer':
      return base + requestTimeoutMs(request);
    case 'execSync': {
      const own = requestTimeoutMs(request);
      return own > 0 ? base + own : Infinity;
    }
    case 'checkpointContainer':
      return Math.max(base, requestTimeoutMs(request));
    case 'pullImage':
      return Infinity;
    default:
      return base;
  }
}

function requestTimeoutMs(request: Timed): number {
  return Math.max(0, Number(request.timeout ?? 0)) * 1000;
}
