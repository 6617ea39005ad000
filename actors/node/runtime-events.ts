import { listenToEvents } from '../runtime/pleg/evented-pleg.ts';
import type { EventedPlegOptions } from '../runtime/pleg/evented-pleg.ts';
import type { Pleg } from '../runtime/pleg/pleg.ts';
import { EVENTED_RATE, GENERIC_RATE } from '../runtime/pleg/relist-rate.ts';
import type { RuntimeWatch } from '../runtime/runtime-state/runtime-watch.ts';
import type { Part } from './lifecycle.ts';

/** What follows the runtime's events, and who hears of them. */
export interface RuntimeEventsOptions extends Omit<EventedPlegOptions, 'onEvent' | 'onConnected'> {
  /** The gate `EventedPLEG` (KEP-3386). */
  enabled: boolean;
  pleg: Pick<Pleg, 'relist' | 'observe' | 'setRate'>;
  runtime: Pick<RuntimeWatch, 'suspect'>;
}

/** Follows the runtime's events while the node runs: a pod that has one is looked at, and whole looks at the runtime are rarer. */
export function runtimeEvents({ enabled, pleg, runtime, ...links }: RuntimeEventsOptions): Part {
  const listening = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  const heard: EventedPlegOptions = {
    ...links,
    onEvent: (uid) => (uid === null ? void pleg.relist() : pleg.observe(uid)),
    onConnected(connected) {
      pleg.setRate(connected ? EVENTED_RATE : GENERIC_RATE);
      if (!connected) runtime.suspect();
    },
  };
  return {
    name: 'runtime events',
    phase: 'work',
    start() {
      if (enabled) ended = listenToEvents(heard, listening.signal);
    },
    stop() {
      listening.abort();
      return ended;
    },
  };
}
