import type { Logger } from 'pino';
import type { PodEventReport } from '../shard/shard-protocol.ts';

/** Events kept for whoever asks, newest last. */
const KEPT = 1_000;

/**
 * Takes the Kubernetes events of all pods. A standalone node has no API server to send them to: they go to the
 * log, as kubelet logs "Event occurred", and the last thousand are kept.
 */
export class EventRecorder {
  private readonly log: Logger;
  private readonly kept: PodEventReport[] = [];
  private readonly listeners = new Set<(event: PodEventReport) => void>();

  constructor(log: Logger) {
    this.log = log;
  }

  record(event: PodEventReport): void {
    this.kept.push(event);
    if (this.kept.length > KEPT) this.kept.shift();
    this.log.info(
      {
        object: `${event.namespace}/${event.name}`,
        fieldPath: event.fieldPath ?? '',
        kind: 'Pod',
        type: event.type,
        reason: event.reason,
        message: event.message,
      },
      'Event occurred',
    );
    for (const listener of this.listeners) listener(event);
  }

  /** Hears each event; returns how to stop. */
  listen(listener: (event: PodEventReport) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  recent(): readonly PodEventReport[] {
    return this.kept;
  }
}
