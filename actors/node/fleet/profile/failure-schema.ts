import { z } from 'zod';
import { durationSchema, globsSchema } from '../../../../cri/sim/script-values.ts';
import { deviceTaintSchema } from './device-taint-schema.ts';

/** What strikes so many devices of a node. */
const COUNTED: ReadonlySet<string> = new Set(['fail-devices', 'fail-driver-devices', 'taint-driver-devices']);

/** Something goes wrong with nodes. Times count from the start. */
export const failureSchema = z
  .strictObject({
    does: z.enum([
      'die',
      'lose-network',
      'hang-runtime',
      'stop-runtime',
      'fill-disk',
      'fill-memory',
      'fail-devices',
      'stop-device-plugin',
      'fail-driver-devices',
      'taint-driver-devices',
      'refuse-claims',
      'stop-driver',
    ]),
    /** Globs of nodes' names; without it all nodes. */
    nodes: globsSchema.optional(),
    zone: z.string().optional(),
    /** So many of those, drawn by the seed; without it all of them. */
    count: z.int().min(1).optional(),
    at: durationSchema.optional(),
    /** Again and again, at random: the mean time between two of them. */
    every: durationSchema.pipe(z.number().min(1000, 'must be at least 1s')).optional(),
    /** How long; without it for good. */
    for: durationSchema.optional(),
    /** Globs of resources whose devices or plugin it strikes; without it all. */
    resource: globsSchema.optional(),
    /** Globs of drivers of dynamic resources that it strikes, or whose devices; without it all. */
    driver: globsSchema.optional(),
    /** So many devices of each resource or driver on a node, drawn by the seed; without it all of them. */
    devices: z.int().min(1).optional(),
    /** With which taint. */
    taint: deviceTaintSchema.optional(),
  })
  .refine(
    (failure) => (failure.at === undefined) !== (failure.every === undefined),
    'needs exactly one of at and every',
  )
  .refine(({ does, resource }) => resource === undefined || struckBy(does) === 'devices', {
    path: ['resource'],
    error: 'goes with fail-devices and stop-device-plugin alone',
  })
  .refine(({ does, driver }) => driver === undefined || struckBy(does) === 'drivers', {
    path: ['driver'],
    error: 'goes with fail-driver-devices, taint-driver-devices, refuse-claims and stop-driver alone',
  })
  .refine(({ does, devices }) => devices === undefined || COUNTED.has(does), {
    path: ['devices'],
    error: 'goes with fail-devices, fail-driver-devices and taint-driver-devices alone',
  })
  .refine(({ does, taint }) => (does === 'taint-driver-devices') === (taint !== undefined), {
    path: ['taint'],
    error: 'goes with taint-driver-devices, which needs it, and with nothing else',
  });

/** Something that goes wrong. */
export type FailureRule = z.output<typeof failureSchema>;

/** What of the groups it strikes, so that some group must have some; null: something that every node has. */
export function struckBy(does: string): 'devices' | 'drivers' | null {
  switch (does) {
    case 'fail-devices':
    case 'stop-device-plugin':
      return 'devices';
    case 'fail-driver-devices':
    case 'taint-driver-devices':
    case 'refuse-claims':
    case 'stop-driver':
      return 'drivers';
    default:
      return null;
  }
}
