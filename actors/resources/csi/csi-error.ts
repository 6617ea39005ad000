import type { ServiceError } from '@grpc/grpc-js';
import { fromServiceError } from '../../../cri/client/cri-error.ts';
import { isFinal } from '../../../machines/csi/call-outcome.ts';
import { ERRNO_WORDS } from '../../host/files/errno-words.ts';

/** A call to a CSI driver that failed: `message` as Go prints it, `rpc error: code = Internal desc = ...`. */
export class CsiCallError extends Error {
  /** As Go spells gRPC's codes. */
  readonly code: string;
  /** It is over for sure: nothing of it goes on in the driver. */
  readonly final: boolean;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'CsiCallError';
    this.code = code;
    this.final = isFinal(code);
  }
}

const DIALS = 'connection error: desc = "transport: Error while dialing: dial unix';

/** What grpc-js reports, in the words that a Go client has for it. */
export function csiCallError(method: string, endpoint: string, error: ServiceError): CsiCallError {
  const { code, details, notSent } = fromServiceError(method, error);
  const why = notSent ? ERRNO_WORDS[/connect (E[A-Z]+)/.exec(details)?.[1] ?? ''] : undefined;
  const text = why === undefined ? details : `${DIALS} ${endpoint}: connect: ${why}"`;
  return new CsiCallError(code, `rpc error: code = ${code} desc = ${text}`, { cause: error });
}
