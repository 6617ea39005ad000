import { cpusAndMemory } from './cpus-and-memory.ts';
import { devicesAndClaims } from './devices-and-claims.ts';
import { node } from './node.ts';
import { pods } from './pods.ts';
import { pressure } from './pressure.ts';
import { volumes } from './volumes.ts';
import type { Mutation } from './mutation.ts';

/** Each of these must be found by the simulation. */
export const mutations: readonly Mutation[] = [
  ...cpusAndMemory,
  ...devicesAndClaims,
  ...pods,
  ...node,
  ...pressure,
  ...volumes,
];
