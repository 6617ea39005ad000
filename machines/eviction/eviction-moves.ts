import type { MoveTable } from '../machine-step/move-table.ts';
import type { EvictionStateName } from './eviction-context.ts';

const watching = {
  'watching.calm': 'no condition has been observed within the transition period',
  'watching.pressed': 'a condition has been observed within the transition period',
} as const;

const act = {
  reclaiming: 'a threshold is met: the node gives back what it can',
  measuring: 'a threshold is met, and the node has nothing to give back',
  'ending.killing': 'pods break a limit on local storage',
} as const;

/** The moves of eviction. */
export const evictionMoves = {
  starting: { 'watching.calm': 'eviction.disks' },
  'watching.calm': { 'watching.pressed': watching['watching.pressed'], ...act },
  'watching.pressed': { 'watching.calm': watching['watching.calm'], ...act },
  reclaiming: { ...watching, measuring: 'too little was given back, or memory runs short meanwhile: a pod has to go' },
  measuring: { ...watching, 'ending.killing': 'the first pod of the ranking that may be evicted' },
  'ending.killing': { ...watching, 'ending.cleaning': 'their containers have ended, or were waited for long enough' },
  'ending.cleaning': watching,
} as const satisfies MoveTable<EvictionStateName>;
