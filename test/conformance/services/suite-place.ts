import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterTool } from '../../cluster/support/cluster-tool.ts';
import { gatesText } from '../options.ts';
import type { ConformanceOptions } from '../options.ts';
import { readGinkgoReport } from '../suite/ginkgo-report.ts';
import type { SuiteRun } from '../suite/spec-result.ts';

/** Where Kubernetes' suite for nodes runs with services of its own: it starts API server, etcd and the agent, and restarts the agent. */
export interface SuitePlace {
  /** An empty folder for it. */
  readonly folder: string;
  /** The runtime's endpoint, with the suite's images in it. */
  readonly runtime: string;
  /** The runtime's program, as the place calls it. */
  readonly containerd: string;
  /** The agent's program, and what it finds in its environment. */
  readonly agent: { readonly program: string; readonly env: Readonly<Record<string, string>> };
  /** More of the agent's configuration. */
  readonly config: object;
  /** What a shell command writes; rejects when it fails. */
  run(command: string): Promise<string>;
  /** The same for what says much: it goes to a file of this side. */
  stream(command: string, file: string): Promise<void>;
  write(path: string, content: string): Promise<void>;
}

/** The run, and what ran. */
export interface ServicesRun extends SuiteRun {
  versions: Record<string, string>;
}

/** Kubernetes' own for its jobs (test/e2e_node/jenkins/default-kubelet-config.yaml). */
const CONFIG = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  cgroupRoot: '/',
  podCIDR: '10.100.0.0/24',
  volumeStatsAggPeriod: '10s',
  fileCheckFrequency: '10s',
  failSwapOn: false,
  evictionPressureTransitionPeriod: '30s',
  evictionHard: { 'memory.available': '250Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' },
  evictionMinimumReclaim: { 'nodefs.available': '5%', 'nodefs.inodesFree': '5%' },
  serializeImagePulls: false,
};

/**
 * Runs the suite, one spec after the other. Leaves its log, its report and the agent's log in `out`. Rejects when the suite made no report; specs
 * that fail are results.
 */
export async function runSuiteIn(place: SuitePlace, wish: ConformanceOptions, out: string): Promise<ServicesRun> {
  const suite = await clusterTool('e2e_node.test');
  const { folder, agent } = place;
  await mkdir(out, { recursive: true });
  // The suite's folder is its working directory, and the agent's file is called kubelet whoever it is: some specs look for that process.
  const env = Object.entries(agent.env).map(([name, value]) => `export ${name}='${value}'\n`);
  await place.write(join(folder, 'kubelet'), `#!/bin/sh\n${env.join('')}exec ${folder}/as/kubelet "$@"\n`);
  await place.write(join(folder, 'base-config.yaml'), JSON.stringify({ ...CONFIG, ...place.config }));
  // What it asks of the machine's kernel is not its subject here.
  const spec = { OS: 'Linux', KernelSpec: { Versions: ['.*'] } };
  await place.write(join(folder, 'system-spec.json'), JSON.stringify(spec));
  const began = performance.now();
  await place.stream(
    `chmod +x ${folder}/kubelet; mkdir -p ${folder}/as; ln -sf ${agent.program} ${folder}/as/kubelet; cd ${folder} && ${suiteCommand(suite, place, wish)}`,
    join(out, 'log'),
  );
  const seconds = Math.round((performance.now() - began) / 1000);
  await writeFile(join(out, 'agent.log'), await place.run(`cat ${folder}/out/kubelet.log || true`));
  const report = await place.run(`cat ${folder}/out/report.json`).catch(() => undefined);
  if (report === undefined) throw new Error(`the suite made no report; see ${join(out, 'log')}`);
  await writeFile(join(out, 'report.json'), report);
  return { ...readGinkgoReport(report), seconds, versions: await versions(place, wish.agent) };
}

/** Its exit code is no matter: the report tells which specs failed. */
function suiteCommand(suite: string, { folder, runtime }: SuitePlace, wish: ConformanceOptions): string {
  const { focus, skip, timeoutMinutes, featureGates, criProxy } = wish;
  const gates = gatesText(featureGates);
  const flags = [
    ...[`--ginkgo.focus=${focus}`, ...(skip === '' ? [] : [`--ginkgo.skip=${skip}`])],
    ...[`--ginkgo.timeout=${timeoutMinutes}m`, '--ginkgo.no-color', '--ginkgo.silence-skips', '--ginkgo.v'],
    ...[`--report-dir=${folder}/out`, `--ginkgo.json-report=${folder}/out/report.json`, '--dump-logs-on-failure=false'],
    ...[`--k8s-bin-dir=${folder}`, `--kubelet-config-file=${folder}/base-config.yaml`, '--prepull-images=false'],
    ...[`--container-runtime-endpoint=${runtime}`, `--system-spec-file=${folder}/system-spec.json`],
    // A node with systemd: without it the summary has no `runtime`, which the suite looks for.
    ...(wish.vm ? ['--kubelet-flags=--runtime-cgroups=/system.slice/containerd.service'] : []),
    // Those of the agent, and of the API server that the suite brings.
    ...(gates === '' ? [] : [`--feature-gates=${gates}`, `--service-feature-gates=${gates}`]),
    ...(criProxy ? ['--cri-proxy-enabled'] : []),
  ];
  // What it leaves when it is ended, such as etcd's data, goes with its folder.
  return `mkdir -p out tmp && TMPDIR=${folder}/tmp ${suite} ${flags.map((flag) => `'${flag.replaceAll("'", `'\\''`)}'`).join(' ')} || true`;
}

async function versions({ run, folder, containerd }: SuitePlace, agent: string): Promise<Record<string, string>> {
  const [version = '', runtime = '', kernel = '', system = ''] = (
    await run(
      `${folder}/kubelet --version; ${containerd} --version | cut -d' ' -f3 | sed 's/^v//'; uname -r; . /etc/os-release; echo "$PRETTY_NAME"`,
    )
  ).split('\n');
  return { agent: `${agent} ${version.split(' ').at(-1)}`, runtime: `containerd://${runtime}`, kernel, system };
}
