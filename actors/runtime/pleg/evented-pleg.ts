import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { BackOff } from '../../../machines/values/back-off.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { isCriError } from '../../../cri/client/cri-error.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import { msFromNs } from './observed-from-cri.ts';

/** What the event listener is made from. */
export interface EventedPlegOptions {
  cri: CriClient;
  log: Logger;
  metrics: Metrics;
  now: () => number;
  /** An event concerns this pod; null: the runtime no longer knows which (the sandbox is gone). */
  onEvent: (podUid: string | null) => void;
  /** The stream is connected (after one more relist they may be rare) or not (relists must be frequent). */
  onConnected: (connected: boolean) => void;
}

/** Pauses between connection attempts. */
const PAUSES = { firstMs: 100, maxMs: 5_000 };
/** A stream that has lived this long is connected, ms: gRPC tells nothing before the first event. */
const SETTLED_MS = 5_000;

/**
 * Listens to GetContainerEvents (KEP-3386) until aborted. An event only says which pod to look at: one observer,
 * `Pleg`, does the looking, so that events and relists can never disagree. Returns when the runtime has no events.
 *
 * A stream that breaks is told at once, so that relists are frequent again from the first failure on (kubelet: from the
 * fifth). Unlike kubelet, which stays with relists for the rest of its life, it is opened again with growing pauses.
 */
export async function listenToEvents(options: EventedPlegOptions, signal: AbortSignal): Promise<void> {
  const { cri, log, metrics } = options;
  const backOff = new BackOff(PAUSES);
  while (!signal.aborted) {
    let connected = false;
    const settle = (): void => {
      if (connected) return;
      connected = true;
      metrics.eventedPlegConnections.inc();
      options.onConnected(true);
    };
    const settled = setTimeout(settle, SETTLED_MS);
    try {
      for await (const event of cri.containerEvents(signal)) {
        backOff.reset();
        metrics.eventedPlegConnectionLatency.observe(Math.max(0, options.now() - msFromNs(event.createdAt)) / 1000);
        options.onEvent(event.podSandboxStatus?.metadata?.uid ?? null);
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
    await sleep(backOff.next(), undefined, { signal }).catch(() => undefined);
  }
}
