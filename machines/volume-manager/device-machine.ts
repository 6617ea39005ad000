import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import * as actions from './device-actions.ts';
import { initialDevice } from './device-context.ts';
import type { DeviceBirth, DeviceContext, DeviceEvent } from './device-context.ts';

const machine = setup({
  types: { context: {} as DeviceContext, events: {} as DeviceEvent, input: {} as DeviceBirth },
  actions: { effect: () => undefined },
  guards: {
    attachable: ({ context }) => context.attachable,
    stages: ({ context }) => context.stages,
    mayBeThere: ({ context }) => context.mayBeThere,
    leftNothing: ({ context, event }) => event.type === 'failed' && event.done && !context.mayBeThere,
  },
});

const attach = act(actions.attach);
const stage = act(actions.stage);
const failedOnce = act(actions.failedOnce);
const giveUp = act(actions.giveUp);
const leave = act(actions.leave);
const over = act(actions.over);

/**
 * A device of the node that several pods may share (a disk, a volume of a CSI driver): its attachment is waited for, it is made ready once for all
 * pods (MountDevice, NodeStageVolume), made larger when its volume has grown, and given back when the last pod has left it.
 */
export const deviceMachine = machine.createMachine({
  id: 'device',
  context: ({ input }) => initialDevice(input),
  initial: 'wanted',
  states: {
    wanted: {
      description: 'A pod wants it; nothing has been done yet.',
      on: {
        begin: [
          { guard: 'attachable', target: 'attaching', actions: attach },
          { target: 'staging', actions: stage },
        ],
        found: { target: 'found', actions: act(actions.foundStaged) },
        leave: { target: 'gone', actions: over },
      },
    },
    found: {
      description:
        'An earlier agent has staged it; its mount may be gone since, with a boot, so it is staged again before a pod has it.',
      on: {
        begin: [
          { guard: 'attachable', target: 'attaching', actions: attach },
          { target: 'staging', actions: stage },
        ],
        leave: { target: 'unstaging', actions: leave },
      },
    },
    attaching: {
      description: 'Its attachment to this node is waited for.',
      on: {
        attached: [
          { guard: 'stages', target: 'staging', actions: act(actions.stageAttached) },
          { target: 'ready', actions: act(actions.attachedNow) },
        ],
        failed: { target: 'attachFailed', actions: failedOnce },
        leave: [
          { guard: 'mayBeThere', target: 'unstaging', actions: [giveUp, leave] },
          { target: 'gone', actions: [giveUp, over] },
        ],
      },
    },
    attachFailed: {
      description: 'It is not attached; it is looked at again after a delay that grows.',
      on: {
        begin: { target: 'attaching', actions: attach },
        leave: [
          { guard: 'mayBeThere', target: 'unstaging', actions: leave },
          { target: 'gone', actions: over },
        ],
      },
    },
    staging: {
      description: 'It is made ready for all pods of the node (MountVolume.MountDevice).',
      on: {
        staged: { target: 'ready', actions: act(actions.stagedNow) },
        failed: { target: 'stageFailed', actions: act(actions.stageFailed) },
        leave: { target: 'givenUp', actions: giveUp },
      },
    },
    stageFailed: {
      description: 'That failed; the next try waits for a delay that grows.',
      on: {
        begin: { target: 'staging', actions: stage },
        leave: [
          { guard: 'mayBeThere', target: 'unstaging', actions: leave },
          { target: 'gone', actions: over },
        ],
      },
    },
    ready: {
      description: 'Pods may have it.',
      on: {
        expand: { target: 'expanding', actions: act(actions.expand) },
        leave: [
          { guard: 'stages', target: 'unstaging', actions: leave },
          { target: 'gone', actions: over },
        ],
      },
    },
    expanding: {
      description: 'Pods may have it, and it is made larger.',
      on: {
        expanded: { target: 'ready', actions: act(actions.expandedNow) },
        failed: { target: 'ready', actions: failedOnce },
        callOff: { actions: act(actions.callOff) },
        leave: { target: 'givenUp', actions: giveUp },
      },
    },
    givenUp: {
      description: 'Nobody wants it any more while a call was under way; what became of that is waited for.',
      on: {
        staged: { target: 'unstaging', actions: leave },
        expanded: { target: 'unstaging', actions: leave },
        failed: [
          { guard: 'leftNothing', target: 'gone', actions: over },
          { target: 'unstaging', actions: leave },
        ],
      },
    },
    unstaging: {
      description: 'It is given back (UnmountDevice).',
      on: {
        unstaged: { target: 'gone', actions: over },
        failed: { target: 'unstageFailed', actions: failedOnce },
      },
    },
    unstageFailed: {
      description:
        'That failed; the next try waits for a delay that grows. For a pod that wants it again it is staged again at once.',
      on: {
        begin: { target: 'unstaging', actions: act(actions.unstage) },
        again: [
          { guard: 'attachable', target: 'attaching', actions: act(actions.attachAnew) },
          { target: 'staging', actions: act(actions.stageAnew) },
        ],
      },
    },
    gone: { description: 'Nothing of it is left on the node.' },
  },
});
