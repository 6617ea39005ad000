import type { MoveTable } from '../machine-step/move-table.ts';
import type { NodeStateName } from './node-context.ts';

const notReady = {
  'notReady.runtimeDown': 'runtime.state: the container runtime does not answer',
  'notReady.runtimeNotReady': 'runtime.state: it answers, and is not ready',
  'notReady.plegUnhealthy': 'pleg.state: the list of what runs has not been read for long',
  'notReady.networkNotReady': 'runtime.state: it is ready, its network is not',
} as const;

const ready = {
  'ready.registering': 'nothing stands in the way, but the API server does not have the node yet',
  'ready.waitingForSources': 'nothing stands in the way, and not every source of pods has spoken',
  'ready.running': 'nothing stands in the way, and every source of pods has spoken',
} as const;

const shuttingDown = { shuttingDown: 'node.stop' } as const;

/** The moves of the node. What it is once it stays: registered, and told by its sources; and it never starts again. */
export const nodeMoves = {
  starting: { ...notReady, ...ready, ...shuttingDown },
  notReady: { ...notReady, ...ready, ...shuttingDown },
  ready: { ...notReady, ...shuttingDown },
  'ready.registering': {
    'ready.waitingForSources': ready['ready.waitingForSources'],
    'ready.running': ready['ready.running'],
  },
  'ready.waitingForSources': { 'ready.running': ready['ready.running'] },
} as const satisfies MoveTable<NodeStateName>;
