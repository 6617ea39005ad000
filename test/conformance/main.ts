/**
 * The command bin/conformance: Kubernetes' end-to-end suite against a node of its own, beside the reference's results.
 */
import { mkdtemp, readlink, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { comparisonText, compareRuns, inShort, shortcomings } from './compare.ts';
import { startConformanceNode } from './conformance-node.ts';
import { writeConformanceDocument } from './document.ts';
import { keepRun, keptRun } from './kept-results.ts';
import { neverPassed } from './never-passed.ts';
import { conformanceOptions, gatesText, USAGE } from './options.ts';
import type { ConformanceOptions } from './options.ts';
import { againInNamespaces, inNamespaces, runSuiteInNamespaces } from './services/suite-in-namespaces.ts';
import { runSuiteInVm } from './services/suite-in-vm.ts';
import { simulatedLimit } from './simulated-limits.ts';
import { runSuite } from './suite/run-suite.ts';
import type { SuiteRun } from './suite/spec-result.ts';
import { versionsOf } from './versions.ts';

function options(): ConformanceOptions {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  try {
    return conformanceOptions(args);
  } catch (error) {
    process.stderr.write(`bin/conformance: ${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exit(2);
  }
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Whether specs may enter the mounts of process 1, and whether much else runs: asked before anything of ours does. */
async function surroundings(): Promise<{ ownMachine?: true; loaded?: true }> {
  const [own, first] = await Promise.all(
    ['self', '1'].map((process) => readlink(`/proc/${process}/ns/mnt`).catch(() => process)),
  );
  return {
    ...(own === first && { ownMachine: true as const }),
    ...((loadavg()[0] ?? 0) > availableParallelism() && { loaded: true as const }),
  };
}

async function main(wish: ConformanceOptions, out: string): Promise<boolean> {
  const around = await surroundings();
  say('making images, control plane and node ...');
  const { agent, suite, containerd, simulated, fleet, csi, csiDriver, kubeProxy, featureGates } = wish;
  const lab = await startConformanceNode({
    agent,
    suite,
    featureGates,
    simulated,
    ...(fleet !== undefined && { fleet: { count: fleet, out: join(out, 'nodes') } }),
    csi,
    csiDriver,
    kubeProxy,
    ...(containerd === undefined ? {} : { containerd }),
  });
  try {
    const reference = agent === 'kubelet' ? null : await referenceOf(wish.keep);
    let good = true;
    let last: SuiteRun | undefined;
    for (let run = 1; run <= wish.runs; run++) {
      say(`run ${run} of ${wish.runs}: the suite's log is ${join(out, String(run), 'log')}`);
      last = await runSuite({
        ...(suite === 'node' && {
          node: { server: lab.plane.server, token: lab.token, endpoint: lab.node.containerd?.endpoint ?? '' },
        }),
        kubeconfig: lab.plane.adminKubeconfig,
        ...(lab.node.agentRoot !== undefined && { agentRoot: lab.node.agentRoot }),
        ...(lab.driver !== undefined && { flags: ['--storage.testdriver', lab.driver.definition] }),
        ...{ focus: [wish.focus], skip: [wish.skip].filter((s) => s !== '') },
        ...{ procs: wish.procs, timeoutMinutes: wish.timeoutMinutes, out: join(out, String(run)), onLine: say },
      });
      if (last.results.length === 0) throw new Error(`no spec matches ${wish.focus} without ${wish.skip}`);
      const lacking = shortcomings(compareRuns(last, reference));
      good &&= lacking.every(({ name }) => simulated && simulatedLimit(name, fleet !== undefined) !== undefined);
      if (run < wish.runs) process.stdout.write(`run ${run}: ${inShort(last)}\n`);
    }
    if (last === undefined) return good;
    process.stdout.write(comparisonText(last, reference));
    if (wish.keep !== undefined) {
      const { focus, skip, procs, keep: part } = wish;
      const date = new Date().toISOString().slice(0, 10);
      const versions = await versionsOf(lab.node);
      const how = {
        ...{ focus, skip, procs },
        ...(suite === 'node' && { suite }),
        ...(simulated && { simulated }),
        ...(fleet !== undefined && { fleet }),
        ...(csi && { csi: true as const }),
        ...(csiDriver && { csiDriver }),
        ...(kubeProxy && { kubeProxy }),
        ...gatesKept(featureGates),
      };
      await keepRun({ part, agent, date, versions, ...how, ...around, ...last });
      await writeConformanceDocument();
    }
    return good;
  } finally {
    await lab.stop();
  }
}

/** With services of its own: the suite starts the agent by itself. */
async function withServices(wish: ConformanceOptions, out: string): Promise<boolean> {
  const { loaded } = await surroundings();
  say(`making a machine; the suite's log is ${join(out, 'log')}`);
  const { versions, ...run } = await (wish.vm ? runSuiteInVm : runSuiteInNamespaces)(wish, out);
  const { agent, focus, skip, procs, keep: part } = wish;
  if (run.results.length === 0)
    throw new Error(`no spec matches ${focus} without ${skip}, or the suite did not get ready`);
  const reference = agent === 'kubelet' || part === undefined ? null : await keptRun(part, 'kubelet');
  process.stdout.write(comparisonText(run, reference));
  if (part !== undefined) {
    const date = new Date().toISOString().slice(0, 10);
    const how = {
      ...(wish.vm ? { vm: true as const } : { services: true as const }),
      ...(Object.keys(wish.machine).length > 0 && { machine: wish.machine }),
      ...(wish.oneDisk && { oneDisk: true as const }),
      ...(wish.criProxy && { criProxy: true as const }),
      ...gatesKept(wish.featureGates),
      ...(loaded && { loaded }),
    };
    await keepRun({ part, agent, date, versions, focus, skip, procs, ...how, ...run });
    await writeConformanceDocument();
  }
  return shortcomings(compareRuns(run, reference)).length === 0;
}

function gatesKept(gates: Readonly<Record<string, boolean>>): { featureGates?: string } {
  const featureGates = gatesText(gates);
  return featureGates === '' ? {} : { featureGates };
}

/** The kubelet's kept run of the same part, else that of the parallel part, which most specs are in. */
async function referenceOf(part: string | undefined): Promise<SuiteRun | null> {
  const own = part === undefined ? null : await keptRun(part, 'kubelet');
  return own ?? (await keptRun('parallel', 'kubelet'));
}

const wish = options();
if (wish.services && !wish.neverPassed && !inNamespaces()) process.exit(await againInNamespaces());
const out = wish.out === undefined ? await mkdtemp(join(tmpdir(), 'conformance-')) : resolve(wish.out);
try {
  // Not process.exit: a pipe would get the first 64 KiB of the list.
  if (wish.neverPassed) process.stdout.write(await neverPassed(wish.suite, wish.focus, wish.skip));
  else process.exitCode = (await (wish.vm || wish.services ? withServices : main)(wish, out)) ? 0 : 1;
} finally {
  if (wish.out === undefined) await rm(out, { recursive: true, force: true });
}
