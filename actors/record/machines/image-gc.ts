import type { AnyMachineSnapshot } from 'xstate';
import type { ImageGcContext, ImageGcMessage, ImageGcOrder } from '../../../machines/images/image-gc-context.ts';
import { imageGcMachine } from '../../../machines/images/image-gc-machine.ts';
import { resolve, statePath, step } from '../../../machines/machine-step/step.ts';
import { journaled } from './journaled-machine.ts';

/** A snapshot of the collector of images. */
export type ImageGcSnapshot = AnyMachineSnapshot & { context: ImageGcContext };

/** The collector of images. */
export const imageGc = journaled<ImageGcSnapshot, ImageGcMessage, ImageGcOrder>({
  name: 'image-gc',
  step: (from, message) => {
    const { snapshot, effects } = step<ImageGcSnapshot, ImageGcOrder>(imageGcMachine, from, message);
    return { state: snapshot, outputs: effects };
  },
  stateName: ({ value }) => statePath(value),
  write: ({ value, context }) => ({ head: { value, context }, rows: [] }),
  revive: (head) => resolve(imageGcMachine, head as { value: unknown; context: object }) as ImageGcSnapshot,
});
