import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import type { EnterEvent } from '../machine-step/move.ts';
import { ANY_ENTER } from '../machine-step/move.ts';
import { entering, undeclared } from '../machine-step/move-table.ts';
import type { NodeContext, NodeStateName, NodeMessage } from './node-context.ts';
import { initialNode } from './node-context.ts';
import { nodeMoves } from './node-moves.ts';
import { decideNode } from './node-step.ts';

const machine = setup({
  types: { context: {} as NodeContext, events: {} as NodeMessage | EnterEvent<NodeStateName> },
  actions: { effect: () => undefined },
});

const deciding = { actions: act(decideNode) };

/** A row of the table of moves, as the transitions of its state. */
const on = (row: keyof typeof nodeMoves) => entering<NodeStateName>('node', nodeMoves[row]);

/**
 * The node: is it ready for pods, and if not, what stands in the way first? Its reasons are those of the Ready condition
 * (kubelet's `ReadyCondition`); what follows for the pods and the posted status are its orders.
 */
export const nodeMachine = machine.createMachine({
  id: 'node',
  context: initialNode,
  initial: 'starting',
  on: {
    'node.start': deciding,
    'runtime.state': deciding,
    'pleg.state': deciding,
    'sources.ready': deciding,
    'node.registered': deciding,
    'node.stop': deciding,
    [ANY_ENTER]: undeclared<NodeContext>(({ nodeName }) => `node ${nodeName}`),
  },
  states: {
    starting: {
      description: 'The agent has begun; runtime and PLEG have not been asked yet.',
      on: on('starting'),
    },
    notReady: {
      description: 'New pods are not to come here.',
      initial: 'runtimeDown',
      on: on('notReady'),
      states: {
        runtimeDown: { description: 'The container runtime does not answer.' },
        runtimeNotReady: { description: 'The container runtime answers, and says that it is not ready.' },
        plegUnhealthy: { description: 'The list of what runs has not been read for three minutes.' },
        networkNotReady: { description: 'The network of the container runtime (CNI) is not ready.' },
      },
    },
    ready: {
      description: 'Nothing stands in the way of pods.',
      initial: 'waitingForSources',
      on: on('ready'),
      states: {
        registering: {
          description: "The API server does not have the node's object yet.",
          on: on('ready.registering'),
        },
        waitingForSources: {
          description: 'Not every source of pods has spoken: pods run, and nothing is removed from the node.',
          on: on('ready.waitingForSources'),
        },
        running: { description: 'All sources have spoken: the node is as it should be.' },
      },
    },
    shuttingDown: { description: 'The agent ends; pods go on without it.' },
  },
});
