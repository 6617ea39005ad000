import type { MoveTable } from '../machine-step/move-table.ts';
import type { ShutdownStateName } from './shutdown-context.ts';

const prepare = {
  'shuttingDown.ending': 'PrepareForShutdown: pods are ended',
  'shuttingDown.telling': 'PrepareForShutdown, and no pod holds anything',
} as const;

const asked = {
  'guarding.raising': 'logind answers, and allows less time than is configured',
  'guarding.locking': 'logind answers, and allows enough',
} as const;

const over = {
  'guarding.raising': 'called off, the lock is not held, and logind allows less time than is configured',
  'guarding.locking': 'called off, and the lock is not held',
} as const;

const early = { 'guarding.inhibited': 'called off while the lock is still held', ...over } as const;

const lost = { 'guarding.unguarded': 'what was asked for failed, or the connection or the lock was lost' } as const;

/** The moves of shutdown. */
export const shutdownMoves = {
  idle: { 'guarding.connecting': 'shutdown.start, and time is configured' },
  'guarding.connecting': { ...asked, ...lost, ...prepare },
  'guarding.raising': { 'guarding.locking': 'it was raised, or cannot be', ...lost, ...prepare },
  'guarding.locking': { 'guarding.inhibited': 'shutdown.locked', ...lost, ...prepare },
  'guarding.unguarded': {
    'guarding.connecting': 'the pause is over, and there is no connection',
    'guarding.locking': 'the pause is over, and there is one',
    ...prepare,
  },
  'guarding.inhibited': { ...lost, ...prepare },
  'shuttingDown.ending': { 'shuttingDown.telling': 'the last group has ended, or had its time', ...early },
  'shuttingDown.telling': { shutDown: 'the API server knows how they ended, or was waited for long enough', ...early },
  shutDown: over,
} as const satisfies MoveTable<ShutdownStateName>;
