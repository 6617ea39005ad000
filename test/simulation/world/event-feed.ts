import { CriError } from '../../../cri/client/cri-error.ts';
import type { ContainerEventResponse } from '../../../cri/generated/runtime/v1/api.ts';
import type { EventStream } from '../../../cri/sim/event-hub.ts';
import type { SimCore } from '../../../cri/sim/sim-core.ts';
import type { FaultClock } from './fault-clock.ts';
import { Inbox } from './inbox.ts';
import type { Owner, VirtualTime } from './virtual-time.ts';

/** The runtime's events on their way to listeners: they can be lost, come late, and the stream can break. */
export class EventFeed {
  private readonly core: SimCore;
  private readonly time: VirtualTime;
  private readonly faults: FaultClock;
  private readonly inboxes = new Set<{ inbox: Inbox<ContainerEventResponse>; close: () => void }>();

  constructor(core: SimCore, { time, faults }: { time: VirtualTime; faults: FaultClock }) {
    this.core = core;
    this.time = time;
    this.faults = faults;
  }

  /** A stream of events for `owner`. */
  async *listen(
    owner: Owner,
    signal: AbortSignal | undefined,
    down: () => boolean,
  ): AsyncGenerator<ContainerEventResponse, void, undefined> {
    if (down() || this.faults.strikes('events', ({ how }) => how === 'off') !== undefined)
      throw new CriError('GetContainerEvents', 'Unavailable', 'connection refused');
    const inbox = new Inbox<ContainerEventResponse>(this.time, owner);
    const listeners = new Map<string, () => void>();
    const stream = {
      writableLength: 0,
      sendMetadata: () => undefined,
      on: (event: string, listener: () => void) => listeners.set(event, listener),
      write: (event: ContainerEventResponse) => this.deliver(inbox, event),
      end: () => undefined,
      emit: () => undefined,
    };
    const entry = { inbox, close: () => listeners.get('cancelled')?.() };
    this.core.events.subscribe(stream as unknown as EventStream);
    this.inboxes.add(entry);
    signal?.addEventListener('abort', () => inbox.end(), { once: true });
    try {
      yield* inbox.read();
    } finally {
      this.inboxes.delete(entry);
      entry.close();
    }
  }

  /** Breaks all streams. */
  cut(): void {
    for (const { inbox } of this.inboxes)
      inbox.fail(new CriError('GetContainerEvents', 'Unavailable', 'error reading from server: EOF'));
  }

  private deliver(inbox: Inbox<ContainerEventResponse>, event: ContainerEventResponse): void {
    if (this.faults.strikes('events', ({ how }) => how === 'lost') !== undefined) return;
    const late = this.faults.strikes('events', ({ how }) => how === 'late') !== undefined;
    inbox.put(event, late ? 30_000 : 1);
  }
}
