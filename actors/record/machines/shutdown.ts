import { whyShutdown } from '../../../machines/shutdown/why-shutdown.ts';
import type { ShutdownContext, ShutdownMessage, ShutdownOrder } from '../../../machines/shutdown/shutdown-context.ts';
import { shutdownMachine } from '../../../machines/shutdown/shutdown-machine.ts';
import { journaledChart } from './journaled-chart.ts';
import type { ChartSnapshot } from './journaled-chart.ts';

/** A shutdown machine's snapshot. */
export type ShutdownSnapshot = ChartSnapshot<ShutdownContext>;

/** Graceful shutdown of the node. A few records in a life of the agent, and those of a shutdown. */
export const shutdown = journaledChart<ShutdownContext, ShutdownMessage, ShutdownOrder>({
  name: 'shutdown',
  chart: shutdownMachine,
  why: ({ context }) => whyShutdown(context),
});
