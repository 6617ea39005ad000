import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import type { EnterEvent } from '../machine-step/move.ts';
import { ANY_ENTER } from '../machine-step/move.ts';
import { entering, undeclared } from '../machine-step/move-table.ts';
import type { EvictionContext, EvictionMessage, EvictionStateName } from './eviction-context.ts';
import { initialEviction } from './eviction-context.ts';
import { evictionMoves } from './eviction-moves.ts';
import { decideEviction } from './eviction-step.ts';

const machine = setup({
  types: { context: {} as EvictionContext, events: {} as EvictionMessage | EnterEvent<EvictionStateName> },
  actions: { effect: () => undefined },
});

const deciding = { actions: act(decideEviction) };

/** A row of the table of moves, as the transitions of its state. */
const on = (row: keyof typeof evictionMoves) => entering<EvictionStateName>('eviction', evictionMoves[row]);

/**
 * Eviction: does the node run short of something, and which pod has to go for it? One round is kubelet's `synchronize`: look,
 * let the node give back what it can, rank the pods, end one, wait for its end, look again.
 */
export const evictionMachine = machine.createMachine({
  id: 'eviction',
  context: initialEviction,
  initial: 'starting',
  on: {
    'eviction.start': deciding,
    'eviction.clock': deciding,
    'eviction.disks': deciding,
    'eviction.looked': deciding,
    'eviction.sounded': deciding,
    'eviction.reclaimed': deciding,
    'eviction.measured': deciding,
    'eviction.killed': deciding,
    'eviction.cleaned': deciding,
    timer: deciding,
    [ANY_ENTER]: undeclared<EvictionContext>(() => 'eviction'),
  },
  states: {
    starting: { description: 'It is not known yet how the disks lie.', on: on('starting') },
    watching: {
      description: 'The node is looked at each 10 s.',
      initial: 'calm',
      states: {
        calm: { description: 'Nothing runs short.', on: on('watching.calm') },
        pressed: {
          description: 'The node tells of pressure: a threshold is met, or was within the transition period.',
          on: on('watching.pressed'),
        },
      },
    },
    reclaiming: {
      description: 'Ended containers and unused images go, before a pod has to.',
      on: on('reclaiming'),
    },
    measuring: {
      description: 'Too little is left: the figures of all pods are read, to rank them.',
      on: on('measuring'),
    },
    ending: {
      description: 'Pods that were evicted are waited for; nobody else goes meanwhile.',
      initial: 'killing',
      states: {
        killing: { description: 'A pod was evicted: its containers are waited for.', on: on('ending.killing') },
        cleaning: {
          description: 'Its containers have ended: its volumes and cgroup are waited for, for 30 s.',
          on: on('ending.cleaning'),
        },
      },
    },
  },
});
