import type { FamilyType, TextWriter } from '../../record/metrics/text-format.ts';
import type { ContainerEntry } from './container-entry.ts';

/** Writes one sample of the family at hand: labels as text, ms since the epoch unless cAdvisor writes no time. */
export type AddSample = (labels: string, value: number, at?: number) => void;

/** One family of series about cgroups. */
export interface ContainerFamily {
  name: string;
  help: string;
  type: FamilyType;
  /** Adds an entry's samples. */
  samples(entry: ContainerEntry, add: AddSample): void;
}

/** Writes the family, unless no entry has a sample. */
export function writeFamily(writer: TextWriter, family: ContainerFamily, entries: readonly ContainerEntry[]): void {
  let begun = false;
  const add: AddSample = (labels, value, at) => {
    if (!begun) writer.family(family.name, family.help, family.type);
    begun = true;
    writer.line(family.name, labels, value, at);
  };
  for (const entry of entries) family.samples(entry, add);
}

/** A gauge with one number for each entry, undefined = no sample; the time is that of the reading. */
export function gauge(
  name: string,
  help: string,
  value: (entry: ContainerEntry) => number | undefined,
): ContainerFamily {
  return single('gauge', name, help, value);
}

/** The same for a counter. */
export function counter(
  name: string,
  help: string,
  value: (entry: ContainerEntry) => number | undefined,
): ContainerFamily {
  return single('counter', name, help, value);
}

/** A gauge of the specification: without a time. */
export function spec(
  name: string,
  help: string,
  value: (entry: ContainerEntry) => number | undefined,
): ContainerFamily {
  return {
    ...{ name, help, type: 'gauge' },
    samples: (entry, add) => {
      const number = value(entry);
      if (number !== undefined) add(entry.labels.plain, number);
    },
  };
}

function single(
  type: FamilyType,
  name: string,
  help: string,
  value: (entry: ContainerEntry) => number | undefined,
): ContainerFamily {
  return {
    ...{ name, help, type },
    samples: (entry, add) => {
      const number = value(entry);
      if (number !== undefined) add(entry.labels.plain, number, entry.reading.at);
    },
  };
}
