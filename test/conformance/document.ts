import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { compareRuns, differences, inShort } from './compare.ts';
import { keptRuns } from './kept-results.ts';
import type { KeptRun } from './kept-results.ts';
import { SAMPLE_SPECS } from './sample-specs.ts';
import { simulatedLimit, simulatedRemark } from './simulated-limits.ts';
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
  const simulated = runs.filter((run) => run.simulated === true);
  const parts = [...new Set(runs.filter((run) => !simulated.includes(run)).map(({ part }) => part))];
  const of = (part: string, agent: KeptRun['agent']): KeptRun | undefined =>
    runs.find((run) => run.part === part && run.agent === agent);
  const text = [
    HEAD,
    ...parts.map((part) => section(part, of(part, 'actorlet'), of(part, 'kubelet'))),
    ...simulated.map(simulatedSection),
  ].join('\n');
  return format(text, { parser: 'markdown', printWidth: 120 });
}

/** Writes {@link conformanceDocument}. */
export async function writeConformanceDocument(): Promise<void> {
  await writeFile(FILE, await conformanceDocument());
}

function timesOf(ours: KeptRun, reference: KeptRun): string {
  if (ours.loaded === true || reference.loaded === true)
    return 'Much else ran on the machine meanwhile, so the times are no measurement.';
  return `Time, actorlet to kubelet: ${(ours.seconds / reference.seconds).toFixed(2)}.`;
}

/** The command that was run. */
function commandOf(run: KeptRun): string {
  const {
    ownMachine,
    vm,
    machine = {},
    oneDisk,
    criProxy,
    csi,
    csiDriver,
    kubeProxy,
    services,
    suite,
    simulated,
    fleet,
    featureGates,
    focus,
    skip,
    procs,
  } = run;
  const flags = [
    ...(simulated === true ? ['--simulated'] : []),
    ...(fleet === undefined ? [] : [`--fleet ${fleet}`]),
    ...(vm === true ? ['--vm'] : []),
    ...Object.entries(machine).map(([part, value]) => `--${part} ${value}`),
    ...(oneDisk === true ? ['--one-disk'] : []),
    ...(criProxy === true ? ['--cri-proxy'] : []),
    ...(csi === true ? ['--csi'] : []),
    ...(csiDriver === true ? ['--csi-driver'] : []),
    ...(kubeProxy === true ? ['--kube-proxy'] : []),
    ...(services === true ? ['--services'] : []),
    ...(suite === undefined ? [] : [`--suite ${suite}`]),
    `--skip '${skip}'`,
    ...(vm === true || services === true ? [] : [`--procs ${procs}`]),
    ...(featureGates === undefined ? [] : [`--feature-gates ${featureGates}`]),
  ];
  return `${ownMachine === true ? 'test/tools/own-machine.sh ' : ''}bin/conformance '${focus}' ${flags.join(' ')}`;
}

function section(part: string, ours: KeptRun | undefined, reference: KeptRun | undefined): string {
  const any = ours ?? reference;
  if (any === undefined) return '';
  const rows = compareRuns(ours ?? { results: [], seconds: 0 }, reference ?? null);
  const unlike = differences(rows);
  return [
    `## ${part}`,
    '',
    `\`${commandOf(any)}\``,
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
          `${timesOf(ours, reference)} ${unlike.length === 0 ? 'No spec ended differently.' : 'Specs that ended differently:'}`,
          '',
          ...unlike.map(
            ({ name, ours: own, reference: other }) => `- ${name}: ${plain(own?.error ?? other?.error ?? '')}`,
          ),
        ]),
    '',
    ...(ours?.remark === undefined ? [] : [ours.remark, '']),
    '| actorlet | kubelet | spec |',
    '| --- | --- | --- |',
    ...rows.map((row) => `| ${cell(row.ours)} | ${cell(row.reference)} | ${plain(row.name)} |`),
    '',
    ...leftOut([ours, reference]),
  ].join('\n');
}

/** The specs that left themselves out, by the reason that they gave. */
function leftOut(runs: readonly (KeptRun | undefined)[]): string[] {
  const byReason = new Map<string, Map<string, string[]>>();
  for (const run of runs) {
    for (const { name, reason } of run?.skipped ?? []) {
      const names = byReason.get(reason) ?? new Map<string, string[]>();
      byReason.set(reason, names.set(name, [...(names.get(name) ?? []), run?.agent ?? '']));
    }
  }
  if (byReason.size === 0) return [];
  const kept = runs.filter((run) => run?.skipped !== undefined).length;
  return [
    'Specs that left themselves out here, with their own words:',
    '',
    ...[...byReason].flatMap(([reason, names]) => [
      `- ${plain(reason)}`,
      ...[...names].map(
        ([name, agents]) => `  - ${plain(name)}${agents.length === kept ? '' : ` (${agents.join()} only)`}`,
      ),
    ]),
    '',
  ];
}

const AGENT_ALONE = [
  'The agent with a real control plane over the [simulated runtime](simulated-runtime.md): pods, volumes, probes by command,',
  'hooks, restarts and statuses are the same decisions and the same files, while commands are played in memory.',
  'Without `--skip`, `--simulated` leaves out what fails here.',
];

const ONE_OF_MANY = [
  'The same with [`actorlet nodes`](simulated-nodes.md), whose nodes share a process, a connection and watches, in place of an agent',
  "by itself: the profile has `files: true`, containers play the suite's commands, and nothing listens on a port. The pods of a spec run",
  'on whichever nodes the scheduler takes.',
];

/** A run without containers: what it says of the agent, spec by spec. */
function simulatedSection(run: KeptRun): string {
  const failed = run.results.filter(({ state }) => state === 'failed');
  const limit = (name: string): string => simulatedLimit(name, run.fleet !== undefined) ?? 'not explained';
  const reasons = new Map<string, number>();
  for (const { name } of failed) {
    const why = limit(name);
    reasons.set(why, (reasons.get(why) ?? 0) + 1);
  }
  const sample = run.results.filter(({ name }) => SAMPLE_SPECS.some((text) => name.includes(text)));
  const inSample = sample.filter(({ state }) => state === 'passed').length;
  const why = ({ name, state }: SpecResult): string =>
    (state === 'failed' ? `needs processes: ${limit(name)}` : simulatedRemark(name)) ?? '';
  return [
    `## ${run.part}: without containers${run.fleet === undefined ? '' : `, on one of ${run.fleet} nodes of a process`}`,
    '',
    `\`${commandOf(run)}\``,
    '',
    ...(run.fleet === undefined ? AGENT_ALONE : ONE_OF_MANY),
    '',
    '| agent | date | result | versions |',
    '| --- | --- | --- | --- |',
    `| ${run.agent} | ${run.date} | ${inShort(run)} | ${Object.values(run.versions).join(', ')} |`,
    '',
    ...(run.loaded === true ? ['Much else ran on the machine meanwhile, so the times are no measurement.', ''] : []),
    ...[...reasons].map(([reason, count]) => `- ${count} fail by nature: ${plain(reason)}`),
    `- of the sample that \`bin/test\` runs, ${inSample} of ${sample.length} pass`,
    '',
    '| simulated | spec | what it lacks |',
    '| --- | --- | --- |',
    ...run.results.map((result) => `| ${cell(result)} | ${plain(result.name)} | ${plain(why(result))} |`),
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
