import { z } from 'zod';
import { amountSchema } from './capacity-schema.ts';
import { isLabel } from './dns-names.ts';
import { wholeNumber } from './whole-number.ts';

/** Counters of one set, and of what a device takes of it (resource.k8s.io/v1 ResourceSliceMaxCountersPerCounterSet). */
const MOST_COUNTERS = 32;
/** Sets that one device takes of (ResourceSliceMaxDeviceCounterConsumptionsPerDevice). */
const MOST_CONSUMED = 2;
/** Sets of one driver: one for each of as many cards as a node has room for. */
const MOST_SETS = 64;
/** Of the name of a set or a counter, a DNS label. */
const LONGEST_NAME = 63;

const nameSchema = (longest: number) =>
  z
    .string()
    .refine(isLabel, 'must be a DNS label: lower case letters, digits and "-"')
    .max(longest, `must have at most ${longest} letters`);

const countersSchema = z.record(z.string(), amountSchema).superRefine((counters, { addIssue }) => {
  const names = Object.keys(counters);
  if (names.length === 0 || names.length > MOST_COUNTERS)
    addIssue({ code: 'custom', message: `must name from 1 to ${MOST_COUNTERS} counters` });
  for (const name of names)
    if (!isLabel(name) || name.length > LONGEST_NAME)
      addIssue({ code: 'custom', path: [name], message: 'must be a DNS label: lower case letters, digits and "-"' });
});

/** Something that devices are parts of, as a card: what is there of it to be shared out (resource.k8s.io/v1 CounterSet). */
const counterSetSchema = z.strictObject({
  /** They are called `<name>-<number>`. */
  name: nameSchema(LONGEST_NAME - 3),
  count: wholeNumber(1, MOST_SETS).default(1),
  counters: countersSchema,
});

/** All sets of a driver. */
export const counterSetsSchema = z
  .array(counterSetSchema)
  .default([])
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must name each sort once')
  .refine(
    (all) => all.reduce((sum, { count }) => sum + count, 0) <= MOST_SETS,
    `must be at most ${MOST_SETS} together`,
  );

/** What a device takes of a set (resource.k8s.io/v1 DeviceCounterConsumption); devices of a sort take of the sets of a sort in turns. */
export const consumesSchema = z
  .array(z.strictObject({ counterSet: z.string(), counters: countersSchema }))
  .max(MOST_CONSUMED, `must be at most ${MOST_CONSUMED}`)
  .default([])
  .refine(
    (all) => new Set(all.map(({ counterSet }) => counterSet)).size === all.length,
    'must name each sort of counter sets once',
  );

type CounterSets = z.output<typeof counterSetsSchema>;
type Consumes = z.output<typeof consumesSchema>;

/** What makes a pool invalid for the scheduler, which then gives away none of its devices: sets and counters that are not there. */
export function* unknownCounters(
  sets: CounterSets,
  consumes: Consumes,
): Generator<{ path: (string | number)[]; message: string }> {
  for (const [i, { counterSet, counters }] of consumes.entries()) {
    const set = sets.find(({ name }) => name === counterSet);
    if (set === undefined) {
      const names = sets.map(({ name }) => name).join(', ');
      const message = `is none of \`sharedCounters\`: ${names === '' ? 'there are none' : `they are ${names}`}`;
      yield { path: [i, 'counterSet'], message };
      continue;
    }
    for (const name of Object.keys(counters))
      if (set.counters[name] === undefined) {
        const names = Object.keys(set.counters).join(', ');
        yield { path: [i, 'counters', name], message: `is no counter of ${counterSet}, which has ${names}` };
      }
  }
}
