import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterTool } from '../../cluster/support/cluster-tool.ts';
import { AGENT, Machine } from '../../vm/support/machine.ts';
import { suiteImages } from '../images/suite-images.ts';
import type { ConformanceOptions } from '../options.ts';
import { readGinkgoReport } from '../suite/ginkgo-report.ts';
import type { SuiteRun } from '../suite/spec-result.ts';

/** Where the suite works in the machine; it starts the `kubelet` that lies there as a unit of systemd. */
const FOLDER = '/root/suite';
const RUNTIME = 'unix:///run/containerd/containerd.sock';
/** Kubernetes' own for its jobs (test/e2e_node/jenkins/default-kubelet-config.yaml), with the cgroups of systemd. */
const CONFIG = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  cgroupDriver: 'systemd',
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

/** The run, and what ran. */
export interface MachineRun extends SuiteRun {
  versions: Record<string, string>;
}

/**
 * Runs Kubernetes' suite for nodes in a virtual machine, one spec after the other. The suite brings its API server and etcd along
 * and starts the agent itself, with the flags and files of a kubelet. Leaves its log, report and the agent's log in `out`.
 * Rejects when the suite made no report; specs that fail are results.
 */
export async function runSuiteInMachine(wish: ConformanceOptions, out: string): Promise<MachineRun> {
  const [suite, kubelet, images] = await Promise.all([
    clusterTool('e2e_node.test'),
    wish.agent === 'kubelet' ? clusterTool('kubelet') : undefined,
    suiteImages(),
  ]);
  await mkdir(out, { recursive: true });
  const machine = await Machine.up('--memory', '4096', '--cpus', '4', '--numa', '2');
  try {
    await machine.run(`ctr -n k8s.io images import ${images.archive} > /dev/null`);
    // The suite's folder is its working directory, and the agent's file is called kubelet whoever it is.
    // A unit has no HOME, and the usual place of what V8 has compiled is a read-only share here.
    await machine.write(
      `${FOLDER}/kubelet`,
      `#!/bin/sh\nexport XDG_CACHE_HOME=/var/cache\nexec ${kubelet ?? `${AGENT}/bin/actorlet`} "$@"\n`,
    );
    await machine.write(`${FOLDER}/base-config.yaml`, JSON.stringify(CONFIG));
    await machine.write(
      `${FOLDER}/system-spec.json`,
      JSON.stringify({ OS: 'Linux', KernelSpec: { Versions: ['.*'] } }),
    );
    const began = performance.now();
    await machine.stream(`chmod +x ${FOLDER}/kubelet; cd ${FOLDER} && ${suiteCommand(suite, wish)}`, join(out, 'log'));
    const seconds = Math.round((performance.now() - began) / 1000);
    await writeFile(join(out, 'agent.log'), await machine.run(`cat ${FOLDER}/out/kubelet.log || true`));
    const report = await machine.run(`cat ${FOLDER}/out/report.json`).catch(() => undefined);
    if (report === undefined) throw new Error(`the suite made no report; see ${join(out, 'log')}`);
    await writeFile(join(out, 'report.json'), report);
    return { results: readGinkgoReport(report), seconds, versions: await versions(machine, wish.agent) };
  } finally {
    await machine.down();
  }
}

/** Its exit code is no matter: the report tells which specs failed. */
function suiteCommand(suite: string, { focus, skip, timeoutMinutes, featureGates }: ConformanceOptions): string {
  const gates = Object.entries(featureGates).map(([gate, on]) => `${gate}=${on}`);
  const flags = [
    ...[`--ginkgo.focus=${focus}`, ...(skip === '' ? [] : [`--ginkgo.skip=${skip}`])],
    ...[`--ginkgo.timeout=${timeoutMinutes}m`, '--ginkgo.no-color', '--ginkgo.silence-skips', '--ginkgo.v'],
    ...[`--report-dir=${FOLDER}/out`, `--ginkgo.json-report=${FOLDER}/out/report.json`, '--dump-logs-on-failure=false'],
    ...[`--k8s-bin-dir=${FOLDER}`, `--kubelet-config-file=${FOLDER}/base-config.yaml`, '--prepull-images=false'],
    ...[`--container-runtime-endpoint=${RUNTIME}`, `--system-spec-file=${FOLDER}/system-spec.json`],
    ...(gates.length === 0 ? [] : [`--feature-gates=${gates.join(',')}`]),
  ];
  return `mkdir -p out && ${suite} ${flags.map((flag) => `'${flag.replaceAll("'", `'\\''`)}'`).join(' ')} || true`;
}

async function versions(machine: Machine, agent: string): Promise<Record<string, string>> {
  const [version = '', runtime = '', kernel = '', system = ''] = (
    await machine.run(
      `${FOLDER}/kubelet --version; containerd --version | cut -d' ' -f3; uname -r; . /etc/os-release; echo "$PRETTY_NAME"`,
    )
  ).split('\n');
  return { agent: `${agent} ${version.split(' ').at(-1)}`, runtime: `containerd://${runtime}`, kernel, system };
}
