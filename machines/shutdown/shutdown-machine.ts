import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import type { EnterEvent } from '../machine-step/move.ts';
import { ANY_ENTER } from '../machine-step/move.ts';
import { entering, undeclared } from '../machine-step/move-table.ts';
import type { ShutdownContext, ShutdownMessage, ShutdownStateName } from './shutdown-context.ts';
import { initialShutdown } from './shutdown-context.ts';
import { shutdownMoves } from './shutdown-moves.ts';
import { decideShutdown } from './shutdown-step.ts';

const machine = setup({
  types: { context: {} as ShutdownContext, events: {} as ShutdownMessage | EnterEvent<ShutdownStateName> },
  actions: { effect: () => undefined },
});

const deciding = { actions: act(decideShutdown) };

/** A row of the table of moves, as the transitions of its state. */
const on = (row: keyof typeof shutdownMoves) => entering<ShutdownStateName>('shutdown', shutdownMoves[row]);

/**
 * Graceful shutdown of the node: logind is asked to wait (a delay inhibitor lock), and when the machine is about to go down pods
 * are ended group by group, from the lowest priority to the highest, before the lock is given back.
 */
export const shutdownMachine = machine.createMachine({
  id: 'shutdown',
  context: initialShutdown,
  initial: 'idle',
  on: {
    'shutdown.start': deciding,
    'shutdown.connected': deciding,
    'shutdown.raised': deciding,
    'shutdown.locked': deciding,
    'shutdown.failed': deciding,
    'shutdown.lost': deciding,
    'shutdown.prepare': deciding,
    'shutdown.cancel': deciding,
    'shutdown.ended': deciding,
    'shutdown.cleaned': deciding,
    'shutdown.told': deciding,
    timer: deciding,
    [ANY_ENTER]: undeclared<ShutdownContext>(() => 'shutdown'),
  },
  states: {
    idle: { description: 'Shutdowns are not waited for.', on: on('idle') },
    guarding: {
      description: 'The machine is up.',
      initial: 'connecting',
      states: {
        connecting: { description: 'How long logind waits is asked.', on: on('guarding.connecting') },
        raising: { description: 'It is told to wait longer.', on: on('guarding.raising') },
        locking: { description: 'The delay inhibitor lock is asked for.', on: on('guarding.locking') },
        unguarded: {
          description: 'The lock or the connection cannot be had: tried again after a pause.',
          on: on('guarding.unguarded'),
        },
        inhibited: { description: 'A shutdown waits for this node.', on: on('guarding.inhibited') },
      },
    },
    shuttingDown: {
      description: 'The machine is about to go down, and waits.',
      initial: 'ending',
      states: {
        ending: {
          description: 'Pods end group by group: containers, volumes, cgroup.',
          on: on('shuttingDown.ending'),
        },
        telling: {
          description: 'The API server is told how they ended.',
          on: on('shuttingDown.telling'),
        },
      },
    },
    shutDown: { description: 'The lock was given back: the machine goes down.', on: on('shutDown') },
  },
});
