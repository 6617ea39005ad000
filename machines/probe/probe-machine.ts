import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import * as actions from './probe-actions.ts';
import type { ProbeContext, ProbeEvent } from './probe-context.ts';
import { initialProbe } from './probe-context.ts';

const machine = setup({
  types: {
    context: {} as ProbeContext,
    events: {} as ProbeEvent,
    input: {} as Pick<ProbeContext, 'container' | 'kind'>,
  },
  actions: { effect: () => undefined },
  guards: {
    newContainer: ({ context, event }) => actions.newContainer(context, event),
    notRunning: ({ event }) => event.world.runningId === '',
    sameAgain: ({ context, event }) => event.world.runningId !== '' && event.world.runningId === context.containerId,
    decidedBefore: ({ context, event }) =>
      context.kind === 'startup' && context.result === 'success' && event.world.runningId !== '',
    runsAtSync: ({ context, event }) => actions.runsAtSync(context, event),
    mayProbe: ({ context, event }) => actions.mayProbe(context, event),
    runGoesOn: ({ context, event }) => actions.runGoesOn(context, event),
    mustEnd: ({ context, event }) => actions.mustEnd(context, event),
    own: ({ context, event }) => (event.type === 'done' || event.type === 'failed') && event.outcome.key === context.op,
    tryAgain: ({ context, event }) => actions.tryAgain(context, event),
    holdNow: ({ context, event }) => actions.holdNow(context, event),
  },
});

/**
 * One probe of one container: waits for its turn, runs, counts, and tells a result when a threshold is
 * reached. A failed liveness or an ended startup probe is on hold until there is a new container.
 */
export const probeMachine = machine.createMachine({
  id: 'probe',
  context: ({ input }) => initialProbe(input.container, input.kind),
  initial: 'idle',
  on: {
    look: [
      { guard: 'mustEnd', target: '.ended', actions: act(actions.quietEnd) },
      { guard: 'newContainer', target: '.waiting', actions: act(actions.begin) },
      { guard: 'notRunning', target: '.idle', actions: act(actions.stopped) },
    ],
  },
  states: {
    idle: {
      description: 'No container runs.',
      on: {
        look: [
          { guard: 'mustEnd', target: 'ended', actions: act(actions.quietEnd) },
          { guard: 'newContainer', target: 'waiting', actions: act(actions.begin) },
          // The runtime had lost sight of it for a moment.
          { guard: 'decidedBefore', target: 'onHold' },
          { guard: 'sameAgain', target: 'waiting', actions: act(actions.arm) },
        ],
      },
    },
    waiting: {
      description: 'Waits for the initial delay, the period, or for the startup probe to succeed.',
      on: {
        look: [
          { guard: 'mustEnd', target: 'ended', actions: act(actions.quietEnd) },
          { guard: 'newContainer', target: 'waiting', actions: act(actions.begin) },
          { guard: 'notRunning', target: 'idle', actions: act(actions.stopped) },
          { actions: act(actions.arm) },
        ],
        timer: [{ guard: 'mayProbe', target: 'probing' }, { actions: act(actions.notYet) }],
        sync: { guard: 'runsAtSync', actions: act(actions.dueAtSync) },
      },
    },
    probing: {
      description: 'The probe runs.',
      entry: act(actions.askProbe),
      /** The probe cannot be asked (no such port): nothing is counted, the next period tries again. */
      always: { guard: ({ context }) => context.op === '', target: 'waiting' },
      on: {
        look: { guard: 'runGoesOn' },
        done: [
          { guard: 'tryAgain', target: 'probing', reenter: true, actions: act(actions.nextTry) },
          { guard: 'holdNow', target: 'onHold', actions: act(actions.counted) },
          { guard: 'own', target: 'waiting', actions: act(actions.counted) },
        ],
        failed: [
          { guard: 'tryAgain', target: 'probing', reenter: true, actions: act(actions.nextTry) },
          { guard: 'holdNow', target: 'onHold', actions: act(actions.counted) },
          { guard: 'own', target: 'waiting', actions: act(actions.counted) },
        ],
      },
    },
    onHold: { description: 'Rests until there is a new container.' },
    ended: { description: 'The end of the pod has stopped it, which is never taken back.', on: { look: {} } },
  },
});
