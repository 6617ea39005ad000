import { status } from '@grpc/grpc-js';
import { GRPC_CODES } from './script-values.ts';

/** An error the client sees as a gRPC status. */
export class RpcError extends Error {
  readonly code: status;
  readonly details: string;

  constructor(code: status, details: string) {
    super(details);
    this.name = 'RpcError';
    this.code = code;
    this.details = details;
  }
}

/** NotFound, worded as containerd words it for `kind` `container` or `sandbox`. */
export function notFound(kind: 'container' | 'sandbox', id: string): RpcError {
  return new RpcError(status.NOT_FOUND, `an error occurred when try to find ${kind} ${JSON.stringify(id)}: not found`);
}

/** A refusal without a code of its own, which containerd gives as Unknown. */
export function refused(details: string): RpcError {
  return new RpcError(status.UNKNOWN, details);
}

/** A field that is needed is absent or wrong. */
export function invalid(details: string): RpcError {
  return new RpcError(status.INVALID_ARGUMENT, details);
}

/** From a script's `fail`. */
export function scripted(failure: { code: string; message: string }): RpcError {
  return new RpcError(GRPC_CODES[failure.code] ?? status.UNKNOWN, failure.message);
}

/** What answers a caller who has gone; nobody reads it. */
export function cancelled(): RpcError {
  return new RpcError(status.CANCELLED, 'context canceled');
}
