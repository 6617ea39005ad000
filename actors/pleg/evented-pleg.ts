import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { CriClient } from '../../cri/client/cri-client.ts';
import { isCriError } from '../../cri/client/cri-error.ts';
import type { Metrics } from '../metrics/metrics-registry.ts';
import { LABEL } from './observed-from-cri.ts';

/** What the event listener is made from. */
export interface EventedPlegOptions {
  cri: CriClient;
  log: Logger;
  metrics: Metrics;
  /** An event concerns this pod. */
  onEvent: (podUid: string) => void;
  /** The stream is connected (after one more relist they may be rare) or not (relists must be frequent). */
  onConnected: (connected: boolean) => void;
}

/** First and longest pause between connection attempts, ms. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A stream that has lived this long is connected, ms: gRPC tells nothing before the first event. */
const SETTLED_MS = 5_000;

/**
 * Listens to GetContainerEvents (KEP-3386) until aborted. An event only says which pod to look at: one observer,
 * `Pleg`, does the looking, so that events and relists can never disagree. Returns when the runtime has no events.
 */
export async function listenToEvents(options: EventedPlegOptions, signal: AbortSignal): Promise<void> {
  const { cri, log, metrics } = options;
  for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const settled = setTimeout(() => options.onConnected(true), SETTLED_MS);
    try {
      for await (const event of cri.containerEvents(signal)) {
        pause = FIRST_PAUSE_MS;
        const uid = event.podSandboxStatus?.labels[LABEL.podUid];
        if (uid !== undefined) options.onEvent(uid);
      }
    } catch (error) {
      if (signal.aborted) return;
      options.onConnected(false);
      if (isCriError(error, 'Unimplemented')) {
        log.debug('The runtime sends no container events; generic PLEG it is');
        return;
      }
      metrics.eventedPlegConnectionErrors.inc();
      log.debug({ err: error }, 'Evented PLEG: connection lost');
    } finally {
      clearTimeout(settled);
    }
    options.onConnected(false);
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}
