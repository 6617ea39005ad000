import { status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';

/** gRPC status names as Go (and so the kubelet's events and logs) spells them, by status number. */
export const GRPC_CODES = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const;

/** One of {@link GRPC_CODES}. */
export type GrpcCode = (typeof GRPC_CODES)[number];

/** gRPC's number of a status. */
export const grpcNumber = (code: GrpcCode): number => GRPC_CODES.indexOf(code);

/**
 * A failed CRI call. `message` reads as the kubelet's events do: `rpc error: code = NotFound desc = ...`;
 * `details` is the runtime's text alone.
 */
export class CriError extends Error {
  readonly code: Exclude<GrpcCode, 'OK'>;
  readonly details: string;
  /** Method name, e.g. `RunPodSandbox`. */
  readonly rpc: string;
  /** True when the request surely never reached the runtime, so that repeating it is safe whatever it does. */
  readonly notSent: boolean;

  constructor(
    rpc: string,
    code: Exclude<GrpcCode, 'OK'>,
    details: string,
    options?: { cause?: unknown; notSent?: boolean },
  ) {
    super(`rpc error: code = ${code} desc = ${details}`, options);
    this.name = 'CriError';
    this.rpc = rpc;
    this.code = code;
    this.details = details;
    this.notSent = options?.notSent ?? false;
  }
}

/** Turns what grpc-js reports into a {@link CriError}. */
export function fromServiceError(rpc: string, error: ServiceError): CriError {
  const name = GRPC_CODES[error.code];
  const code = name === undefined || name === 'OK' ? 'Unknown' : name;
  // grpc-js uses these words only when it had no connection to hand the call to.
  const notSent = error.code === status.UNAVAILABLE && error.details.startsWith('No connection established');
  return new CriError(rpc, code, ownDetails(error) ?? error.details, { notSent });
}

/** Go's words for what the client itself decided: they carry no measured times, so that a journal replays. */
function ownDetails(error: ServiceError): string | undefined {
  // Without a time it is a server of Node that noticed first.
  if (error.code === status.DEADLINE_EXCEEDED && error.details.startsWith('Deadline exceeded'))
    return 'context deadline exceeded';
  if (error.code === status.CANCELLED && error.details.startsWith('Cancelled on client')) return 'context canceled';
  return undefined;
}

/** True when `error` is a {@link CriError} with one of `codes`. */
export function isCriError(error: unknown, ...codes: GrpcCode[]): error is CriError {
  return error instanceof CriError && (codes.length === 0 || codes.includes(error.code));
}
