import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import * as actions from './mount-actions.ts';
import { initialMount } from './mount-context.ts';
import type { MountBirth, MountContext, MountEvent } from './mount-context.ts';

const machine = setup({
  types: { context: {} as MountContext, events: {} as MountEvent, input: {} as MountBirth },
  actions: { effect: () => undefined },
  guards: {
    mayBeThere: ({ context }) => context.mayBeThere,
    shared: ({ context }) => context.shared,
    leftNothing: ({ context, event }) => event.type === 'failed' && event.done && !context.mayBeThere,
  },
});

const lookUp = act(actions.lookUp);
const publish = act(actions.publish(false));
const failedOnce = act(actions.failedOnce);
const giveUp = act(actions.giveUp);
const leave = act(actions.leave);
const over = act(actions.over);

/**
 * A volume of a pod that the main thread puts there (claims, and what pods name inline that is no content of the agent's): who serves it is looked
 * up, its device is waited for when it has one, it is put where containers find it, and it is taken away with its pod.
 */
export const mountMachine = machine.createMachine({
  id: 'mount',
  context: ({ input }) => initialMount(input),
  initial: 'wanted',
  states: {
    wanted: {
      description: 'Its pod wants it; nothing has been done yet.',
      on: {
        begin: { target: 'resolving', actions: lookUp },
        found: { target: 'found', actions: act(actions.foundThere) },
        leave: { target: 'gone', actions: over },
      },
    },
    resolving: {
      description: 'Its claim, the volume behind it and the plugin that serves it are looked up.',
      on: {
        resolved: { target: 'waitingForDevice', actions: act(actions.knownNow) },
        failed: { target: 'unresolved', actions: failedOnce },
        leave: { target: 'gone', actions: [giveUp, over] },
      },
    },
    unresolved: {
      description:
        'Its claim is not there or not bound, or nobody serves it; it is looked up again after a delay that grows.',
      on: {
        begin: { target: 'resolving', actions: lookUp },
        leave: { target: 'gone', actions: over },
      },
    },
    waitingForDevice: {
      description:
        'Its device is attached and made ready for all pods of the node first; another pod may have it alone.',
      on: {
        begin: { target: 'publishing', actions: publish },
        shared: { target: 'mounted', actions: act(actions.sharedNow) },
        hindered: { actions: act(actions.hinderedOnce) },
        leave: [
          { guard: 'mayBeThere', target: 'unpublishing', actions: leave },
          { target: 'gone', actions: over },
        ],
      },
    },
    publishing: {
      description: 'Its plugin puts it where containers find it (MountVolume.SetUp).',
      on: {
        published: { target: 'mounted', actions: act(actions.publishedNow) },
        failed: { target: 'publishFailed', actions: act(actions.publishFailed) },
        leave: { target: 'givenUp', actions: giveUp },
      },
    },
    publishFailed: {
      description: 'That failed; the next try waits for a delay that grows, and for another pod that has it alone.',
      on: {
        begin: { target: 'publishing', actions: publish },
        hindered: { actions: act(actions.hinderedOnce) },
        leave: [
          { guard: 'mayBeThere', target: 'unpublishing', actions: leave },
          { target: 'gone', actions: over },
        ],
      },
    },
    mounted: {
      description: 'Containers find it.',
      on: {
        begin: { target: 'republishing', actions: act(actions.publish(true)) },
        leave: [
          { guard: 'shared', target: 'gone', actions: over },
          { target: 'unpublishing', actions: leave },
        ],
      },
    },
    republishing: {
      description: 'Containers find it, and it is brought up to date.',
      on: {
        published: { target: 'mounted', actions: act(actions.publishedNow) },
        failed: { target: 'mounted', actions: failedOnce },
        leave: { target: 'givenUp', actions: giveUp },
      },
    },
    givenUp: {
      description: 'Its pod has ended while a call was under way; what became of that is waited for.',
      on: {
        published: { target: 'unpublishing', actions: leave },
        failed: [
          { guard: 'leftNothing', target: 'gone', actions: over },
          { target: 'unpublishing', actions: leave },
        ],
      },
    },
    found: {
      description: 'It lies in the folder of a pod, as an earlier agent left it; no worker has asked for it.',
      on: { leave: { target: 'unpublishing', actions: leave } },
    },
    unpublishing: {
      description: 'Its plugin takes it away (UnmountVolume.TearDown).',
      on: {
        unpublished: { target: 'gone', actions: over },
        failed: { target: 'unpublishFailed', actions: failedOnce },
      },
    },
    unpublishFailed: {
      description: 'That failed; the next try waits for a delay that grows.',
      on: { begin: { target: 'unpublishing', actions: act(actions.unpublish) } },
    },
    gone: { description: 'Nothing of it is left on the node.' },
  },
});
