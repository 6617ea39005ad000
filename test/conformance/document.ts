import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { compareRuns, differences, inShort } from './compare.ts';
import { keptRuns } from './kept-results.ts';
import type { KeptRun } from './kept-results.ts';
import type { SpecResult } from './suite/spec-result.ts';

const FILE = fileURLToPath(new URL('../../docs/conformance.md', import.meta.url));

const HEAD = `# Conformance

Kubernetes' own end-to-end suite (v1.35.4, built from its Go module) against a node of its own: \`bin/conformance\`.
The reference is the kubelet of the same release on the same machine. This page is made from \`test/conformance/results\`
by \`bin/conformance --keep PART\`; a test fails when it is stale.
`;

/** docs/conformance.md as the kept runs have it. */
export async function conformanceDocument(): Promise<string> {
  const runs = await keptRuns();
  const parts = [...new Set(runs.map(({ part }) => part))];
  const of = (part: string, agent: KeptRun['agent']): KeptRun | undefined =>
    runs.find((run) => run.part === part && run.agent === agent);
  const text = [HEAD, ...parts.map((part) => section(part, of(part, 'actorlet'), of(part, 'kubelet')))].join('\n');
  return format(text, { parser: 'markdown', printWidth: 120 });
}

/** Writes {@link conformanceDocument}. */
export async function writeConformanceDocument(): Promise<void> {
  await writeFile(FILE, await conformanceDocument());
}

function section(part: string, ours: KeptRun | undefined, reference: KeptRun | undefined): string {
  const any = ours ?? reference;
  if (any === undefined) return '';
  const rows = compareRuns(ours ?? { results: [], seconds: 0 }, reference ?? null);
  const unlike = differences(rows);
  return [
    `## ${part}`,
    '',
    `\`--focus '${any.focus}' --skip '${any.skip}' --procs ${any.procs}\``,
    '',
    '| agent | date | result | versions |',
    '| --- | --- | --- | --- |',
    ...[ours, reference].flatMap((run) =>
      run === undefined
        ? []
        : [`| ${run.agent} | ${run.date} | ${inShort(run)} | ${Object.values(run.versions).join(', ')} |`],
    ),
    '',
    ...(ours === undefined || reference === undefined
      ? []
      : [
          `Time, actorlet to kubelet: ${(ours.seconds / reference.seconds).toFixed(2)}. ${unlike.length === 0 ? 'No spec ended differently.' : 'Specs that ended differently:'}`,
          '',
          ...unlike.map(
            ({ name, ours: own, reference: other }) => `- ${name}: ${plain(own?.error ?? other?.error ?? '')}`,
          ),
        ]),
    '',
    '| actorlet | kubelet | spec |',
    '| --- | --- | --- |',
    ...rows.map((row) => `| ${cell(row.ours)} | ${cell(row.reference)} | ${plain(row.name)} |`),
    '',
  ].join('\n');
}

function cell(result: SpecResult | null): string {
  return result === null ? '' : `${result.state} ${result.seconds} s`;
}

/** Names and errors are words, not markup. */
function plain(text: string): string {
  return text.replaceAll(/([\\*_<>[\]|`])/g, '\\$1');
}
