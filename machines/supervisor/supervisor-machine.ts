import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import { NO_TRACKED_PODS } from './pod-table.ts';
import type { SupervisorContext, SupervisorMessage, SupervisorOrder } from './supervisor-context.ts';
import { decideSupervision } from './supervisor-step.ts';

const machine = setup({
  types: {
    context: {} as SupervisorContext,
    events: {} as SupervisorMessage,
    input: {} as { shards: number; behaviour?: readonly number[] },
  },
  actions: { effect: () => undefined },
});

const supervise = act((context: SupervisorContext, message: SupervisorMessage) => {
  const { context: patch, orders } = decideSupervision(context, message);
  return { patch, effects: orders as SupervisorOrder[] };
});

/**
 * The supervisor: tracks one actor for each pod UID and routes what sources, PLEG and workers say. Until every
 * source has spoken nothing is removed from the node.
 */
export const supervisorMachine = machine.createMachine({
  id: 'supervisor',
  context: ({ input: { shards, behaviour } }) => ({
    ...{ shards, sourcesReady: false, pods: NO_TRACKED_PODS },
    ...(behaviour !== undefined && { behaviour }),
  }),
  initial: 'waitingForSources',
  on: {
    config: { actions: supervise },
    admitted: { actions: supervise },
    seen: { actions: supervise },
    finished: { actions: supervise },
    retryStart: { actions: supervise },
    shardReplaced: { actions: supervise },
    tryAgain: { actions: supervise },
  },
  states: {
    waitingForSources: {
      description: 'Not every source has spoken yet: pods start, and nothing is removed from the node.',
      on: { sourcesReady: { target: 'supervising', actions: supervise } },
    },
    supervising: { description: 'All sources have spoken: what no source names is stopped and removed.' },
  },
});
