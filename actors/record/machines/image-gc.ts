import type { ImageGcContext, ImageGcMessage, ImageGcOrder } from '../../../machines/images/image-gc-context.ts';
import { imageGcMachine } from '../../../machines/images/image-gc-machine.ts';
import { journaledChart } from './journaled-chart.ts';
import type { ChartSnapshot } from './journaled-chart.ts';

/** A snapshot of the collector of images. */
export type ImageGcSnapshot = ChartSnapshot<ImageGcContext>;

/** The collector of images. */
export const imageGc = journaledChart<ImageGcContext, ImageGcMessage, ImageGcOrder>({
  name: 'image-gc',
  chart: imageGcMachine,
});
