import { Metadata } from '@grpc/grpc-js';
import type { Client, ServiceError } from '@grpc/grpc-js';
import { GetEventsRequest, RuntimeServiceService } from '../generated/runtime/v1/api.ts';
import type { ContainerEventResponse } from '../generated/runtime/v1/api.ts';
import { fromServiceError } from './cri-error.ts';

/**
 * The runtime's container events as they come, without a deadline. Ends when `signal` aborts or the runtime
 * closes the stream; a lost connection throws. It does not reconnect by itself: events of the gap are gone, so
 * the caller must list again first. The call is made when the first event is asked for.
 * @throws CriError e.g. `Unavailable` (connection lost) or `Unimplemented` (runtime without events)
 */
export async function* containerEvents(
  client: Client,
  signal: AbortSignal | undefined,
): AsyncGenerator<ContainerEventResponse, void, undefined> {
  if (signal?.aborted) return;
  const method = RuntimeServiceService.getContainerEvents;
  const stream = client.makeServerStreamRequest(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
    GetEventsRequest.fromPartial({}),
    new Metadata(),
    {},
  );
  const cancel = () => {
    stream.cancel();
  };
  signal?.addEventListener('abort', cancel, { once: true });
  // The stream still reports its cancellation after the loop below has been left.
  stream.on('error', () => undefined);
  try {
    for await (const event of stream as AsyncIterable<ContainerEventResponse>) yield event;
  } catch (error) {
    if (signal?.aborted) return;
    throw isServiceError(error) ? fromServiceError('GetContainerEvents', error) : error;
  } finally {
    signal?.removeEventListener('abort', cancel);
    stream.cancel();
  }
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' && 'details' in error;
}
