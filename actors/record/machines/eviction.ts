import type { EvictionContext, EvictionMessage, EvictionOrder } from '../../../machines/eviction/eviction-context.ts';
import { initialEviction } from '../../../machines/eviction/eviction-context.ts';
import { evictionMachine } from '../../../machines/eviction/eviction-machine.ts';
import { journaledChart } from './journaled-chart.ts';
import type { ChartSnapshot } from './journaled-chart.ts';

/** An eviction machine's snapshot. */
export type EvictionSnapshot = ChartSnapshot<EvictionContext>;

/** Eviction. Looks at a node that is well change nothing and are not told to it, so its log is short. */
export const eviction = journaledChart<EvictionContext, EvictionMessage, EvictionOrder>({
  name: 'eviction',
  chart: evictionMachine,
  // Journals of before had no soundings.
  fresh: initialEviction,
});
