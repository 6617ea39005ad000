import { actorletFlags } from './actorlet-flags.ts';
import { cadvisorFlags } from './cadvisor-flags.ts';
import { clusterFlags } from './cluster-flags.ts';
import { fieldFlags } from './field-flags.ts';
import type { FlagSpec } from './flag-spec.ts';
import { loggingFlags } from './logging-flags.ts';
import { nodeFlags } from './node-flags.ts';
import { podFlags } from './pod-flags.ts';
import { retentionFlags } from './retention-flags.ts';
import { runtimeFlags } from './runtime-flags.ts';
import { serverFlags } from './server-flags.ts';

/** Every flag of the daemon, in the order of `--help`: what people need first comes first. */
export const ALL_FLAGS: readonly FlagSpec[] = [
  ...podFlags,
  ...runtimeFlags,
  ...nodeFlags,
  ...loggingFlags,
  ...serverFlags,
  ...actorletFlags,
  ...clusterFlags,
  ...retentionFlags,
  ...fieldFlags,
  ...cadvisorFlags,
];

/** The flags by name. */
export const FLAGS_BY_NAME: ReadonlyMap<string, FlagSpec> = new Map(ALL_FLAGS.map((flag) => [flag.name, flag]));
