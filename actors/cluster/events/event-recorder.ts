import type { Logger } from 'pino';
import { podObject } from '../../../machines/protocol/recorded-event.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';
import type { PodEventReport } from '../../pods/shard/shard-protocol.ts';
import type { EventSink } from './event-sink.ts';

/** Events of pods kept for whoever asks, newest last. */
const KEPT = 1_000;

/**
 * Longest message, in UTF-16 units; the rest of it is left out. Probes tell 10 KiB of a body at most, but the name of an image may
 * have as much as a pod: thousands of events are remembered here and by the correlator.
 */
const LONGEST_MESSAGE = 16 * 1024;

/**
 * Takes the Kubernetes events of all pods and of the node. They go to the log, as kubelet logs "Event occurred", and
 * to each sink (the API server's is `ApiEvents`; a standalone node has none). The last thousand of pods are kept.
 */
export class EventRecorder implements EventSink {
  private readonly log: Logger;
  private readonly kept: PodEventReport[] = [];
  private readonly listeners = new Set<(event: PodEventReport) => void>();
  private readonly sinks = new Set<EventSink>();

  constructor(log: Logger) {
    this.log = log;
  }

  /** An event as a pod's machine reports it, or about any object. */
  record(told: PodEventReport | RecordedEvent): void {
    const event = shortened(told);
    if ('object' in event) {
      this.tell(event);
      return;
    }
    this.kept.push(event);
    if (this.kept.length > KEPT) this.kept.shift();
    this.tell(aboutPod(event));
    for (const listener of this.listeners) listener(event);
  }

  /** Gives all events from now on to a sink; returns how to stop. */
  addSink(sink: EventSink): () => void {
    this.sinks.add(sink);
    return () => this.sinks.delete(sink);
  }

  /** Hears each event of a pod; returns how to stop. */
  listen(listener: (event: PodEventReport) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  recent(): readonly PodEventReport[] {
    return this.kept;
  }

  private tell(event: RecordedEvent): void {
    const { object, type, reason, message } = event;
    this.log.info(
      {
        // Where they go to the API server, the log has them from the verbosity on at which kubelet's has.
        ...(this.sinks.size > 0 && { v: 3 }),
        object: object.namespace ? `${object.namespace}/${object.name}` : object.name,
        fieldPath: object.fieldPath ?? '',
        kind: object.kind,
        type,
        reason,
        message,
      },
      'Event occurred',
    );
    for (const sink of this.sinks) sink.record(event);
  }
}

function shortened<T extends { message: string }>(event: T): T {
  if (event.message.length <= LONGEST_MESSAGE) return event;
  // A copy: a part of a text would keep the whole of it. It ends no later than before half a character.
  const message = Buffer.from(event.message.slice(0, LONGEST_MESSAGE).replace(/[\ud800-\udbff]$/, '')).toString();
  return { ...event, message };
}

function aboutPod(event: PodEventReport): RecordedEvent {
  const { uid, namespace, name, at, type, reason, message, fieldPath } = event;
  return {
    object: { ...podObject({ metadata: { namespace, name, uid } }), ...(fieldPath ? { fieldPath } : {}) },
    at,
    type,
    reason,
    message,
  };
}
