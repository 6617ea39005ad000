import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { comparisonText, compareRuns, differences, shortcomings } from '../conformance/compare.ts';
import { conformanceDocument } from '../conformance/document.ts';
import { keptRun } from '../conformance/kept-results.ts';
import { conformanceOptions } from '../conformance/options.ts';
import { losesOutput, missedOutput } from '../conformance/lost-output.ts';
import { literal, SAMPLE_SPECS } from '../conformance/sample-specs.ts';
import { simulatedLimit, simulatedLimitNames } from '../conformance/simulated-limits.ts';
import { readGinkgoReport } from '../conformance/suite/ginkgo-report.ts';
import type { SpecResult, SuiteRun } from '../conformance/suite/spec-result.ts';

const spec = (text: string, state: string, more: object = {}): object => ({
  ContainerHierarchyTexts: ['[sig-node] Pods'],
  LeafNodeType: 'It',
  LeafNodeText: text,
  State: state,
  RunTime: 2_600_000_000,
  ...more,
});
const result = (name: string, state: SpecResult['state'], error?: string): SpecResult => ({
  ...{ name, state, seconds: 1 },
  ...(error === undefined ? {} : { error }),
});
const run = (...results: SpecResult[]): SuiteRun => ({ results, seconds: 5 });

test('a report tells the specs that ran, and the first lines of what failed', () => {
  const text = JSON.stringify([
    {
      SpecReports: [
        spec('b', 'failed', { Failure: { Message: 'Expected\n  <int>: 1\n\nto equal 2' } }),
        spec('a', 'passed'),
        spec('c', 'skipped'),
        spec('s', 'skipped', { Failure: { Message: 'needs two NUMA nodes' } }),
        spec('t', 'timedout'),
        spec('', 'passed', { LeafNodeType: 'BeforeSuite' }),
      ],
    },
  ]);
  assert.deepEqual(readGinkgoReport(text), {
    results: [
      { name: '[sig-node] Pods a', state: 'passed', seconds: 3 },
      { name: '[sig-node] Pods b', state: 'failed', seconds: 3, error: 'Expected <int>: 1 to equal 2' },
      { name: '[sig-node] Pods t', state: 'failed', seconds: 3, error: 'timedout' },
    ],
    // One that was not chosen says nothing.
    skipped: [{ name: '[sig-node] Pods s', reason: 'needs two NUMA nodes' }],
  });
  assert.throws(() => readGinkgoReport('{}'));
});

test('only what the reference passes is a shortcoming; what one did not run is no difference', () => {
  const ours = run(result('a', 'passed'), result('b', 'failed', 'no'), result('c', 'failed'), result('d', 'failed'));
  const reference = run(result('a', 'failed'), result('b', 'passed'), result('c', 'failed'), result('e', 'passed'));
  const rows = compareRuns(ours, reference);
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['a', 'b', 'c', 'd', 'e'],
  );
  assert.deepEqual(
    shortcomings(rows).map(({ name }) => name),
    ['b', 'd'],
  );
  assert.deepEqual(
    differences(rows).map(({ name }) => name),
    ['a', 'b'],
  );
  const text = comparisonText(ours, reference);
  assert.match(text, /DIFFERENT {2}b\n +no/);
  assert.match(text, /this agent: passed 1, failed 3, 5 s\nreference, all of its run: passed 2, failed 2, 5 s/);
});

test('flags are checked, and the message names what is accepted', () => {
  const options = conformanceOptions(['Sysctls', '--agent', 'kubelet', '--feature-gates', 'EventedPLEG=true']);
  assert.equal(options.focus, 'Sysctls');
  assert.equal(options.agent, 'kubelet');
  assert.deepEqual(options.featureGates, { EventedPLEG: true });
  const { suite, procs, skip } = conformanceOptions(['--vm', 'PodPidsLimits']);
  assert.deepEqual({ suite, procs, skip }, { suite: 'node', procs: 1, skip: 'Windows' });
  const beside = conformanceOptions(['--services', 'DRA']);
  assert.deepEqual([beside.services, beside.vm, beside.suite, beside.skip], [true, false, 'node', 'Windows']);
  assert.ok(conformanceOptions(['--services', '--cri-proxy']).criProxy);
  assert.deepEqual([conformanceOptions(['--csi', 'CSI Mock']).csi, options.csi], [true, false]);
  assert.ok(conformanceOptions(['--csi-driver', 'External.Storage']).csiDriver);
  assert.deepEqual([conformanceOptions(['--kube-proxy']).kubeProxy, options.kubeProxy], [true, false]);
  assert.deepEqual([conformanceOptions(['--simulated', '--fleet', '3']).fleet, options.fleet], [3, undefined]);
  for (const [args, message] of [
    [['--fleet', '3'], /--fleet: says how many nodes --simulated has/],
    [['--simulated', '--fleet', '3', '--agent', 'kubelet'], /--fleet: says how many nodes --simulated has/],
    [['--simulated', '--fleet', '3', '--suite', 'node'], /--fleet: says how many nodes --simulated has/],
    [['--simulated', '--fleet', '1'], /from 2 on/],
    [['--simulated', '--fleet', 'all'], /--fleet all: accepted are whole numbers/],
    [['--agent', 'crio'], /actorlet and kubelet/],
    [['--procs', '0'], /whole numbers from 1 on/],
    [['--feature-gates', 'X'], /NAME=true and NAME=false/],
    [['--keep', 'A B'], /small letters, digits and dashes/],
    [['one', 'two'], /quote it/],
    [['--wrong'], /--wrong/],
    [['--vm', '--simulated'], /--services, --vm: run the suite of nodes once/],
    [['--cri-proxy'], /--services or --vm/],
    [['--csi', '--suite', 'node'], /suite of clusters with real containers/],
    [['--csi', '--vm'], /suite of clusters with real containers/],
    [['--csi', '--simulated'], /suite of clusters with real containers/],
    [['--csi-driver', '--simulated'], /--csi-driver: is of the suite of clusters/],
    [['--kube-proxy', '--simulated'], /--kube-proxy: is of the suite of clusters/],
    [['--services', '--suite', 'e2e'], /--services, --vm: run the suite of nodes once/],
  ] as const) {
    assert.throws(() => conformanceOptions(args), message);
  }
});

test('the sample is 25 specs, each of which the kept runs know exactly once', async () => {
  assert.equal(new Set(SAMPLE_SPECS).size, 25);
  const kept = await keptRun('parallel', 'kubelet');
  for (const text of SAMPLE_SPECS) {
    assert.equal(kept?.results.filter(({ name }) => name.includes(text)).length, 1, text);
    assert.match(text, new RegExp(`^${literal(text)}$`));
  }
});

for (const [part, flags] of [
  ['simulated', ['--simulated']],
  ['simulated-fleet', ['--simulated', '--fleet', '50']],
] as const)
  test(`each spec that fails in the part ${part} has its reason, and each reason its specs`, () =>
    reasonsFit(part, flags));

async function reasonsFit(part: string, flags: readonly string[]): Promise<void> {
  const kept = await keptRun(part, 'actorlet');
  assert.equal(kept?.simulated, true);
  const fleet = kept.fleet !== undefined;
  assert.equal(conformanceOptions(flags).fleet, kept.fleet);
  const known = await keptRun('parallel', 'actorlet');
  assert.deepEqual(
    kept.results.map(({ name }) => name),
    known?.results.map(({ name }) => name),
  );
  for (const { name, state } of kept.results)
    assert.equal(simulatedLimit(name, fleet) !== undefined, state === 'failed', name);
  for (const text of simulatedLimitNames(fleet))
    assert.ok(
      kept.results.some(({ name }) => name.includes(text)),
      text,
    );
  const { skip } = conformanceOptions(flags);
  for (const { name, state } of kept.results) assert.equal(new RegExp(skip).test(name), state === 'failed', name);
}

test('what is to be left out can be said, and is not the same without the simulated runtime', () => {
  assert.equal(conformanceOptions(['--simulated', '--skip', 'x']).skip, 'x');
  assert.equal(conformanceOptions([]).skip, '\\[Serial\\]|\\[Disruptive\\]|\\[Slow\\]|Windows');
});

test('docs/conformance.md is what the kept runs make', async () => {
  const path = new URL('../../docs/conformance.md', import.meta.url);
  assert.equal(await readFile(path, 'utf8'), await conformanceDocument(), 'run bin/conformance with --keep');
});

test('specs are asked again only for output that was missing, and only where the runtime is known to lose some', () => {
  const versions = ['1.5.9', '1.6.0', '1.6.20', '1.6.21', '1.6.22', '1.7.0', '1.7.2', '1.7.3', '2.0.0'];
  const parsed = versions.map((version) => version.split('.').map(Number));
  const losing = versions.filter((_, i) => {
    const [major = 0, minor = 0, patch = 0] = parsed[i] ?? [];
    return losesOutput({ major, minor, patch });
  });
  assert.deepEqual(losing, ['1.6.0', '1.6.20', '1.6.21', '1.7.0', '1.7.2']);
  const output = 'Unexpected error: expected "CPU_LIMIT=2" in container output: Expected';
  assert.deepEqual(
    missedOutput([result('a', 'failed', output), result('b', 'failed', 'timed out'), result('c', 'passed')]),
    ['a'],
  );
});
