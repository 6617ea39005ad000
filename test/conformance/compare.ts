import type { SpecResult, SuiteRun } from './suite/spec-result.ts';

/** One spec as both agents did it; null when one did not run it. */
export interface Compared {
  name: string;
  ours: SpecResult | null;
  reference: SpecResult | null;
}

/** Both runs by spec, sorted by name. */
export function compareRuns(ours: SuiteRun, reference: SuiteRun | null): Compared[] {
  const rows = new Map<string, Compared>();
  const row = (name: string): Compared => {
    const found = rows.get(name) ?? { name, ours: null, reference: null };
    rows.set(name, found);
    return found;
  };
  for (const result of ours.results) row(result.name).ours = result;
  for (const result of reference?.results ?? []) row(result.name).reference = result;
  return [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Specs that the reference passes and the agent does not. */
export function shortcomings(rows: readonly Compared[]): Compared[] {
  return rows.filter(({ ours, reference }) => ours?.state === 'failed' && reference?.state !== 'failed');
}

/** Specs whose outcomes differ, in either direction; those that one of them did not run are no difference. */
export function differences(rows: readonly Compared[]): Compared[] {
  return rows.filter(({ ours, reference }) => ours !== null && reference !== null && ours.state !== reference.state);
}

/** `passed N, failed N, S s`. */
export function inShort(run: SuiteRun): string {
  const failed = run.results.filter(({ state }) => state === 'failed').length;
  return `passed ${run.results.length - failed}, failed ${failed}, ${run.seconds} s`;
}

/** A run as text for a terminal: each spec with both outcomes and times, then the differences with their errors. */
export function comparisonText(ours: SuiteRun, reference: SuiteRun | null): string {
  const rows = compareRuns(ours, reference).filter((row) => row.ours !== null);
  const lines = rows.map(({ name, ours: own, reference: other }) => `${cell(own)}  ${cell(other)}  ${name}`);
  const unlike = reference === null ? rows.filter((row) => row.ours?.state === 'failed') : differences(rows);
  return [
    'this agent     reference      spec',
    ...lines,
    '',
    ...unlike.map(
      ({ name, ours: own, reference: other }) => `DIFFERENT  ${name}\n           ${own?.error ?? other?.error ?? ''}`,
    ),
    `this agent: ${inShort(ours)}`,
    ...(reference === null ? [] : [`reference, all of its run: ${inShort(reference)}`]),
    '',
  ].join('\n');
}

function cell(result: SpecResult | null): string {
  return (result === null ? '-' : `${result.state} ${String(result.seconds).padStart(4)} s`).padEnd(13);
}
