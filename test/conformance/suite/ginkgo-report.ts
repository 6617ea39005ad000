import { z } from 'zod';
import type { SpecResult } from './spec-result.ts';

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

/** What ginkgo's `--json-report` says of the specs that ran, by name. Throws when it is no such report. */
export function readGinkgoReport(text: string): SpecResult[] {
  const results: SpecResult[] = [];
  for (const suite of report.parse(JSON.parse(text))) {
    for (const found of suite.SpecReports ?? []) {
      if (found.LeafNodeType !== 'It' || found.State === 'skipped' || found.State === 'pending') continue;
      const failed = found.State !== 'passed';
      const name = [...(found.ContainerHierarchyTexts ?? []), found.LeafNodeText].join(' ');
      results.push({
        name,
        state: failed ? 'failed' : 'passed',
        seconds: Math.round(found.RunTime / NANOSECONDS),
        ...(failed ? { error: firstLines(found.Failure?.Message ?? found.State) } : {}),
      });
    }
  }
  return results.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function firstLines(message: string): string {
  const lines = message.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .slice(0, ERROR_LINES)
    .join(' ')
    .slice(0, 800);
}
