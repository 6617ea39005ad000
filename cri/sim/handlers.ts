import type { ImageServiceService, RuntimeServiceService } from '../generated/runtime/v1/api.ts';
import type { CallContext } from './call-context.ts';

/** Reads off a generated method definition what it takes and gives. */
type Handler<D> = D extends {
  requestDeserialize: (bytes: Buffer) => infer Q;
  responseSerialize: (value: infer R) => Buffer;
}
  ? (request: Q, call: CallContext) => R | Promise<R>
  : never;

/** The lists whose answers are given as bytes already. */
type Encoded = 'listPodSandbox' | 'listContainers';
type Streaming = 'getContainerEvents';

/** Every unary RPC of RuntimeService: the compiler proves that none is missing. */
export type RuntimeHandlers = {
  [K in Exclude<keyof RuntimeServiceService, Encoded | Streaming>]: Handler<RuntimeServiceService[K]>;
} & {
  [K in Encoded]: (request: Parameters<Handler<RuntimeServiceService[K]>>[0], call: CallContext) => Buffer;
};

/** Every RPC of ImageService. */
export type ImageHandlers = { [K in keyof ImageServiceService]: Handler<ImageServiceService[K]> };

/** RPCs that wait for `call.work()` themselves, because they hold something meanwhile (a reserved name). */
export const SELF_PACED: ReadonlySet<string> = new Set(['RunPodSandbox', 'CreateContainer', 'PullImage']);

/** RPCs whose answers are bytes already. */
export const ENCODED: ReadonlySet<string> = new Set<Encoded>(['listPodSandbox', 'listContainers']);
