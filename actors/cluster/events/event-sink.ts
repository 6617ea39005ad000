import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';

/** Who takes events in; never throws and never blocks. */
export interface EventSink {
  record(event: RecordedEvent): void;
}
