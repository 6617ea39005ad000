import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import type { NodeContext, NodeFocus, NodeMessage } from './node-context.ts';
import { initialNode } from './node-context.ts';
import { decideNode } from './node-step.ts';

const machine = setup({
  types: { context: {} as NodeContext, events: {} as NodeMessage },
  actions: { effect: () => undefined },
});

/** The chart follows the context, as the pod's does. */
function follow<const T extends readonly NodeFocus[]>(...targets: T) {
  return targets.map((target) => ({
    guard: ({ context }: { context: NodeContext }) => context.focus === target,
    target: `#node.${target}` as const,
  }));
}

const NOT_READY = [
  'notReady.runtimeDown',
  'notReady.runtimeNotReady',
  'notReady.plegUnhealthy',
  'notReady.networkNotReady',
] as const;
const READY = ['ready.registering', 'ready.waitingForSources', 'ready.running'] as const;

function without<const T extends readonly NodeFocus[]>(all: T, one: NodeFocus): NodeFocus[] {
  return all.filter((f) => f !== one);
}

const deciding = { actions: act(decideNode) };

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
  },
  states: {
    starting: {
      description: 'The agent has begun; runtime and PLEG have not been asked yet.',
      always: follow(...NOT_READY, ...READY, 'shuttingDown'),
    },
    notReady: {
      description: 'New pods are not to come here.',
      initial: 'runtimeDown',
      states: {
        runtimeDown: {
          description: 'The container runtime does not answer.',
          always: follow(...without(NOT_READY, 'notReady.runtimeDown')),
        },
        runtimeNotReady: {
          description: 'The container runtime answers, and says that it is not ready.',
          always: follow(...without(NOT_READY, 'notReady.runtimeNotReady')),
        },
        plegUnhealthy: {
          description: 'The list of what runs has not been read for three minutes.',
          always: follow(...without(NOT_READY, 'notReady.plegUnhealthy')),
        },
        networkNotReady: {
          description: 'The network of the container runtime (CNI) is not ready.',
          always: follow(...without(NOT_READY, 'notReady.networkNotReady')),
        },
      },
      always: follow(...READY, 'shuttingDown'),
    },
    ready: {
      description: 'Nothing stands in the way of pods.',
      initial: 'waitingForSources',
      states: {
        registering: {
          description: "The API server does not have the node's object yet.",
          always: follow(...without(READY, 'ready.registering')),
        },
        waitingForSources: {
          description: 'Not every source of pods has spoken: pods run, and nothing is removed from the node.',
          always: follow(...without(READY, 'ready.waitingForSources')),
        },
        running: {
          description: 'All sources have spoken: the node is as it should be.',
          always: follow(...without(READY, 'ready.running')),
        },
      },
      always: follow(...NOT_READY, 'shuttingDown'),
    },
    shuttingDown: { description: 'The agent ends; pods go on without it.' },
  },
});
