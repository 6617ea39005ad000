import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import * as actions from './volume-actions.ts';
import type { NeededVolume, VolumeContext, VolumeEvent } from './volume-context.ts';
import { initialVolume, showsObjects } from './volume-context.ts';

const machine = setup({
  types: { context: {} as VolumeContext, events: {} as VolumeEvent, input: {} as NeededVolume },
  actions: { effect: () => undefined },
  guards: {
    showsObjects: ({ context }) => showsObjects(context.kind),
    own: ({ context, event }) => 'key' in event && event.key === context.op,
  },
});

const asked = act(actions.asked);
const rested = act(actions.rested);

/**
 * One volume of a pod, in the words of kubelet's volume manager: it waits, is set up (MountVolume.SetUp), is set up anew
 * beside running containers when what it shows has changed, and is taken down with its pod. The pod asks for all its
 * volumes in one effect and tells each what that means for it; a volume asks for nothing by itself.
 */
export const volumeMachine = machine.createMachine({
  id: 'volume',
  context: ({ input }) => initialVolume(input),
  initial: 'pending',
  states: {
    pending: {
      description: 'No container can use it yet.',
      initial: 'waitForAttachOrMount',
      on: {
        refused: { target: '.invalid', actions: act(actions.refused) },
        tearDown: { target: 'leaving', actions: asked },
      },
      states: {
        waitForAttachOrMount: {
          description: 'Its pod has not asked for it, or another volume failed first.',
          on: { setUp: { target: 'mounting', actions: asked } },
        },
        mounting: {
          description: 'MountVolume.SetUp is under way; what it shows may have to be fetched first.',
          on: {
            setUp: { actions: asked },
            done: { guard: 'own', target: '#volume.mounted', actions: act(actions.setUp) },
            failed: { guard: 'own', target: 'mountFailed', actions: act(actions.failedOnce) },
            undecided: { guard: 'own', target: 'waitForAttachOrMount', actions: rested },
          },
        },
        mountFailed: {
          description: 'MountVolume.SetUp failed; the next try waits for a delay that grows.',
          on: {
            setUp: { target: 'mounting', actions: asked },
            forgotten: { target: 'waitForAttachOrMount', actions: rested },
          },
        },
        invalid: {
          description: 'Its definition cannot be set up on this node; it is not tried again until that changes.',
          on: {
            setUp: { target: 'mounting', actions: asked },
            forgotten: { target: 'waitForAttachOrMount', actions: rested },
          },
        },
      },
    },
    mounted: {
      description: 'It is there for containers.',
      initial: 'upToDate',
      on: {
        refused: { target: '.remountFailed', actions: act(actions.refused) },
        tearDown: { target: 'leaving', actions: asked },
      },
      states: {
        upToDate: {
          description: 'It shows what it is to show.',
          on: {
            setUp: { target: 'remounting', actions: asked },
            changed: { guard: 'showsObjects', target: 'remountRequired' },
            forgotten: { target: 'remountRequired' },
          },
        },
        remountRequired: {
          description: 'SetUp has to run again: what it shows or its definition has changed, or another volume failed.',
          on: { setUp: { target: 'remounting', actions: asked } },
        },
        remounting: {
          description: 'SetUp runs again beside the containers; what is up to date is left alone.',
          on: {
            setUp: { actions: asked },
            done: { guard: 'own', target: 'upToDate', actions: act(actions.setUp) },
            failed: { guard: 'own', target: 'remountFailed', actions: act(actions.failedOnce) },
            undecided: { guard: 'own', target: 'remountRequired', actions: rested },
          },
        },
        remountFailed: {
          description: 'It shows what it did before: SetUp failed, and the next try waits for a delay that grows.',
          on: {
            setUp: { target: 'remounting', actions: asked },
            changed: { guard: 'showsObjects', target: 'remountRequired', actions: rested },
            forgotten: { target: 'remountRequired', actions: rested },
          },
        },
      },
    },
    leaving: {
      description: 'Its pod has ended.',
      initial: 'unmounting',
      states: {
        unmounting: {
          description: 'It is being unmounted and removed.',
          on: {
            done: { guard: 'own', target: 'unmounted', actions: act(actions.tornDown) },
            failed: { guard: 'own', target: 'unmountFailed', actions: act(actions.failedOnce) },
          },
        },
        unmountFailed: {
          description: 'It could not be unmounted or removed; the next try waits for a delay that grows.',
          on: { tearDown: { target: 'unmounting', actions: asked } },
        },
        unmounted: { description: 'Nothing of it is left on the node.' },
      },
    },
  },
});
