import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import type { ContainerGcContext, ContainerGcMessage } from './container-gc-context.ts';
import { initialContainerGc } from './container-gc-context.ts';
import * as steps from './container-gc-step.ts';

const machine = setup({
  types: { context: {} as ContainerGcContext, events: {} as ContainerGcMessage },
  actions: { effect: () => undefined },
  guards: {
    someGo: ({ context, event }) => steps.removal(context, event as steps.Look) !== null,
  },
});

const removing = (target: string) => ({ guard: 'someGo' as const, target, actions: act(steps.remove) });
const removed = { 'gc.removed': { target: '#container-gc.resting' } };

/**
 * The collector of containers (kubelet's containerGC): each minute it removes ended containers beyond those that are kept,
 * then sandboxes that hold nothing any more, then logs and links of what is gone. When the node runs short all that has ended goes.
 */
export const containerGcMachine = machine.createMachine({
  id: 'container-gc',
  context: initialContainerGc,
  initial: 'resting',
  on: {
    'gc.start': { actions: act(steps.begun) },
    'gc.failed': { actions: act(steps.fail) },
    'pass.ended': { actions: act(steps.conclude) },
  },
  states: {
    resting: {
      description: 'Nothing is to be removed.',
      on: {
        'containers.listed': removing('removing.containers'),
        'sandboxes.listed': removing('removing.sandboxes'),
        'logs.listed': removing('removing.logs'),
      },
    },
    removing: {
      description: 'What is not kept goes.',
      initial: 'containers',
      states: {
        containers: { description: 'The runtime removes containers, each with its log.', on: removed },
        sandboxes: { description: 'The runtime removes sandboxes.', on: removed },
        logs: { description: 'Folders and links of logs are removed.', on: removed },
      },
    },
  },
});
