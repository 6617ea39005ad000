import { Metadata, status } from '@grpc/grpc-js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { ContainerEventResponse, ContainerEventType, GetEventsRequest } from '../generated/runtime/v1/api.ts';
import type { NanoClock } from './nano-clock.ts';
import type { SandboxRecord } from './records.ts';
import { RpcError } from './rpc-error.ts';
import { statusesOf, toSandboxStatus } from './status-shapes.ts';

/** A stream of GetContainerEvents. */
export type EventStream = ServerWritableStream<GetEventsRequest, ContainerEventResponse>;

/** Events a reader may lag behind before more are dropped (containerd's channel holds 1000). */
const MOST_PENDING = 1000;

/** Sends container events to all that listen. */
export class EventHub {
  readonly #clock: NanoClock;
  readonly #streams = new Set<EventStream>();
  #on: boolean;
  /** Events that a slow reader did not get. */
  dropped = 0;

  constructor(clock: NanoClock, on: boolean) {
    this.#clock = clock;
    this.#on = on;
  }

  /** Throws Unavailable while events are switched off. */
  subscribe(stream: EventStream): void {
    if (!this.#on) throw unavailable();
    this.#streams.add(stream);
    // The headers tell the client that it is connected, before the first event.
    stream.sendMetadata(new Metadata());
    stream.on('cancelled', () => {
      this.#streams.delete(stream);
      stream.end();
    });
    stream.on('close', () => this.#streams.delete(stream));
    stream.on('error', () => this.#streams.delete(stream));
  }

  /** `id`: of the container, or of the sandbox for the sandbox's own events. */
  emit(id: string, type: ContainerEventType, sandbox: SandboxRecord): void {
    if (this.#streams.size === 0) return;
    const event: ContainerEventResponse = {
      containerId: id,
      containerEventType: type,
      createdAt: this.#clock.now(),
      podSandboxStatus: toSandboxStatus(sandbox),
      containersStatuses: statusesOf(sandbox),
    };
    for (const stream of this.#streams) {
      if (stream.writableLength < MOST_PENDING) stream.write(event);
      else this.dropped++;
    }
  }

  /** Switches events on or off; off ends all streams with Unavailable. */
  setOn(on: boolean): void {
    this.#on = on;
    if (!on) this.dropAll();
  }

  /** Ends all streams with Unavailable. */
  dropAll(): void {
    for (const stream of [...this.#streams]) {
      this.#streams.delete(stream);
      stream.emit('error', unavailable());
    }
  }

  /** Streams open now. */
  get size(): number {
    return this.#streams.size;
  }
}

function unavailable(): RpcError {
  return new RpcError(status.UNAVAILABLE, 'container events are switched off by script');
}
