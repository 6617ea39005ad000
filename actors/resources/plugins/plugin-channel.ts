import { Metadata } from '@grpc/grpc-js';
import type { CallOptions, ClientOptions, ClientUnaryCall, ServiceError } from '@grpc/grpc-js';
import { GRPC_CODES } from '../../../cri/client/cri-error.ts';

/** How plugins of all kinds are spoken to, over their unix sockets. */
export const PLUGIN_CHANNEL: ClientOptions = {
  // Go's servers do not take a path for an authority.
  'grpc.default_authority': 'localhost',
  // Another call to the same socket shall not wait for the pauses of an earlier one that found nobody there.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
};

/** Most bytes of one message of a device plugin or a driver. */
export const PLUGIN_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Makes one call of a generated client: its request is bound already. */
export type BeginCall<R> = (
  metadata: Metadata,
  options: Partial<CallOptions>,
  done: (error: ServiceError | null, response: R) => void,
) => ClientUnaryCall;

/** One call, as a promise; rejects with grpc-js's own error. `limitMs`: its deadline from now. */
export function callPlugin<R>(limitMs: number, begin: BeginCall<R>): Promise<R> {
  return new Promise((resolve, reject) => {
    begin(new Metadata(), { deadline: Date.now() + limitMs }, (error, response) => {
      if (error === null) resolve(response);
      else reject(error);
    });
  });
}

/** The code of a failed call as Go spells it. */
export function goCode({ code }: ServiceError): string {
  return GRPC_CODES[code] ?? `Code(${code})`;
}
