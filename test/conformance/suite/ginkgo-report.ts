import { z } from 'zod';
import type { SkippedSpec, SpecResult } from './spec-result.ts';

const NANOSECONDS = 1e9;
const ERROR_LINES = 6;

const spec = z.object({
  ContainerHierarchyTexts: z.array(z.string()).nullish(),
  LeafNodeType: z.string(),
  LeafNodeText: z.string(),
  State: z.string(),
  RunTime: z.number(),
  Failure: z.object({ Message: z.string() }).nullish(),
});
const report = z.array(z.object({ SpecReports: z.array(spec).nullish() }));

/** What a report says. */
export interface Report {
  results: SpecResult[];
  skipped: SkippedSpec[];
}

/** What ginkgo's `--json-report` says of the specs that were chosen, by name. Throws when it is no such report. */
export function readGinkgoReport(text: string): Report {
  const results: SpecResult[] = [];
  const skipped: SkippedSpec[] = [];
  for (const suite of report.parse(JSON.parse(text))) {
    for (const found of suite.SpecReports ?? []) {
      if (found.LeafNodeType !== 'It') continue;
      const name = [...(found.ContainerHierarchyTexts ?? []), found.LeafNodeText].join(' ');
      if (found.State === 'skipped' || found.State === 'pending') {
        // Those without words were not chosen.
        const reason = firstLines(found.Failure?.Message ?? '');
        if (reason !== '') skipped.push({ name, reason });
        continue;
      }
      const failed = found.State !== 'passed';
      results.push({
        name,
        state: failed ? 'failed' : 'passed',
        seconds: Math.round(found.RunTime / NANOSECONDS),
        ...(failed ? { error: firstLines(found.Failure?.Message ?? found.State) } : {}),
      });
    }
  }
  return { results: results.sort(byName), skipped: skipped.sort(byName) };
}

function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : 1;
}

function firstLines(message: string): string {
  const lines = message.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .slice(0, ERROR_LINES)
    .join(' ')
    .slice(0, 800);
}
