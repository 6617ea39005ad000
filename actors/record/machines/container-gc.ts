import type {
  ContainerGcContext,
  ContainerGcMessage,
  ContainerGcOrder,
} from '../../../machines/container-gc/container-gc-context.ts';
import { containerGcMachine } from '../../../machines/container-gc/container-gc-machine.ts';
import { journaledChart } from './journaled-chart.ts';
import type { ChartSnapshot } from './journaled-chart.ts';

/** A snapshot of the collector of containers. */
export type ContainerGcSnapshot = ChartSnapshot<ContainerGcContext>;

/** The collector of containers. Looks of which nothing follows are not told to it. */
export const containerGc = journaledChart<ContainerGcContext, ContainerGcMessage, ContainerGcOrder>({
  name: 'container-gc',
  chart: containerGcMachine,
  why: ({ context }) => context.failure ?? '',
});
