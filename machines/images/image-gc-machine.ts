import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import type { ImageGcContext, ImageGcMessage, ImageGcOrder } from './image-gc-context.ts';
import { initialImageGc } from './image-gc-context.ts';
import * as steps from './image-gc-step.ts';

const machine = setup({
  types: { context: {} as ImageGcContext, events: {} as ImageGcMessage },
  actions: { effect: () => undefined },
  guards: {
    tooOld: ({ context }) => steps.nextTooOld(context) !== undefined,
    forRoom: ({ context }) => steps.nextForRoom(context) !== undefined,
    look: ({ context }) => context.pass?.look === true,
    all: ({ context }) => context.pass?.all === true,
    oldOnesStayed: ({ context }) => (context.pass?.problems.length ?? 0) > 0,
    noDisk: ({ event }) => event.type === 'disk.measured' && event.capacityBytes === 0,
  },
});

const removing = {
  description: 'The runtime removes it.',
  on: {
    'image.removed': { target: 'choosing', actions: act(steps.removed) },
    'image.kept': { target: 'choosing', actions: act(steps.kept) },
  },
};
const failed = { target: 'resting', actions: act(steps.fail) };
const removeFor = (reason: 'age' | 'space') => {
  const next = reason === 'age' ? steps.nextTooOld : steps.nextForRoom;
  return act<ImageGcContext, ImageGcMessage, ImageGcOrder>((context) => steps.remove(context, next(context), reason));
};

/**
 * The collector of images (kubelet's image GC manager): every five minutes it looks which images are in use, removes those that
 * nobody has used for too long, and when their disk is too full those that were used longest ago, until there is room.
 */
export const imageGcMachine = machine.createMachine({
  id: 'image-gc',
  context: initialImageGc,
  initial: 'resting',
  on: {
    'gc.start': { actions: act(steps.begun) },
  },
  states: {
    resting: {
      description: 'Until the next pass.',
      on: { 'gc.begin': { target: 'listing', actions: act(steps.list) } },
    },
    listing: {
      description: 'The runtime lists its images, and the containers that use them.',
      on: {
        'images.listed': [
          { guard: 'look', target: 'resting', actions: act(steps.look) },
          { guard: 'all', target: 'freeingSpace', actions: act(steps.takeAll) },
          { target: 'freeingOld', actions: act(steps.take) },
        ],
        'gc.failed': failed,
      },
    },
    freeingOld: {
      description: 'Images that nobody has used for imageMaximumGCAge go, one by one.',
      initial: 'choosing',
      states: {
        choosing: {
          description: 'The next one is chosen.',
          always: [
            { guard: 'tooOld', target: 'removing', actions: removeFor('age') },
            { guard: 'oldOnesStayed', target: '#image-gc.resting', actions: act(steps.conclude) },
            { target: '#image-gc.measuring', actions: act(steps.measure) },
          ],
        },
        removing,
      },
    },
    measuring: {
      description: 'The runtime and the node are asked how full the file system of the images is.',
      on: {
        'disk.measured': [
          { guard: 'noDisk', target: 'resting', actions: act(steps.noDisk) },
          { target: 'freeingSpace', actions: act(steps.weigh) },
        ],
        'gc.failed': failed,
      },
    },
    freeingSpace: {
      description: 'Images go, those used longest ago first, until the disk is at imageGCLowThresholdPercent.',
      initial: 'choosing',
      states: {
        choosing: {
          description: 'The next one is chosen.',
          always: [
            { guard: 'forRoom', target: 'removing', actions: removeFor('space') },
            { target: '#image-gc.resting', actions: act(steps.conclude) },
          ],
        },
        removing,
      },
    },
  },
});
