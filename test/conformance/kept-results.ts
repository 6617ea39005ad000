import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const FOLDER = fileURLToPath(new URL('results', import.meta.url));

const kept = z.object({
  /** Which part of the suite, e.g. `parallel`. */
  part: z.string(),
  agent: z.enum(['actorlet', 'kubelet']),
  date: z.string(),
  /** What ran: agent, suite, runtime, kernel. */
  versions: z.record(z.string(), z.string()),
  focus: z.string(),
  skip: z.string(),
  procs: z.number(),
  /** Of which suite, when it is not said by another field. */
  suite: z.literal('node').optional(),
  /** It ran on the simulated runtime. */
  simulated: z.literal(true).optional(),
  /** On so many nodes of `actorlet nodes`. */
  fleet: z.number().optional(),
  /** The suite of nodes, with services of its own. */
  services: z.literal(true).optional(),
  /** The same in a virtual machine of bin/vm. */
  vm: z.literal(true).optional(),
  /** Where that machine was not the usual one: processors, the NUMA nodes that share them, how many of them are one core, MiB. */
  machine: z
    .object({ cpus: z.number(), numa: z.number(), threads: z.number(), memory: z.number() })
    .partial()
    .optional(),
  /** All of that machine is on one disk. */
  oneDisk: z.literal(true).optional(),
  criProxy: z.literal(true).optional(),
  /** With the images of CSI's sidecars. */
  csi: z.literal(true).optional(),
  /** With the project's CSI driver on the node. */
  csiDriver: z.literal(true).optional(),
  /** With kube-proxy and CoreDNS beside the node. */
  kubeProxy: z.literal(true).optional(),
  /** Feature gates that were set, as `--feature-gates` has them; absent: none. */
  featureGates: z.string().optional(),
  /** Written by hand: why specs failed, where the table alone would mislead. */
  remark: z.string().optional(),
  /** On a machine of its own (`test/tools/own-machine.sh`), whose first process specs can enter. */
  ownMachine: z.literal(true).optional(),
  /** More ran beside it than the machine has processors: its times are no measurement. */
  loaded: z.literal(true).optional(),
  /** Wall clock, s. */
  seconds: z.number(),
  /** Specs that left themselves out, with their words. */
  skipped: z.array(z.object({ name: z.string(), reason: z.string() })).optional(),
  results: z.array(
    z.object({
      name: z.string(),
      state: z.enum(['passed', 'failed']),
      seconds: z.number(),
      error: z.string().optional(),
    }),
  ),
});

/** A run of the suite that is kept in the project: what docs/conformance.md is made from. */
export type KeptRun = z.infer<typeof kept>;

/** All kept runs. */
export async function keptRuns(): Promise<KeptRun[]> {
  const files = (await readdir(FOLDER).catch(() => [])).filter((name) => name.endsWith('.json')).sort();
  return Promise.all(files.map(async (name) => kept.parse(JSON.parse(await readFile(join(FOLDER, name), 'utf8')))));
}

/** The kept run of an agent for a part; null when there is none. */
export async function keptRun(part: string, agent: KeptRun['agent']): Promise<KeptRun | null> {
  return (await keptRuns()).find((run) => run.part === part && run.agent === agent) ?? null;
}

/** Keeps a run, in the place of the last one of the same part and agent. */
export async function keepRun(run: KeptRun): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const lines = run.results.map((result) => `    ${JSON.stringify(result)}`).join(',\n');
  const { results: _results, ...head } = run;
  const text = JSON.stringify(head, null, 2).replace(/\n\}$/, `,\n  "results": [\n${lines}\n  ]\n}\n`);
  await writeFile(join(FOLDER, `${run.part}-${run.agent}.json`), text);
}
