import { parseArgs } from 'node:util';
import { literal } from './sample-specs.ts';
import { simulatedLimitNames } from './simulated-limits.ts';
import type { AgentKind } from '../cluster/support/node-config.ts';

/** Kubernetes' suites: of a cluster (`test/e2e`), and of a node (`test/e2e_node`), which looks at the node from within. */
export type SuiteName = 'e2e' | 'node';

/** What `bin/conformance` was asked for. */
export interface ConformanceOptions {
  agent: AgentKind;
  suite: SuiteName;
  focus: string;
  skip: string;
  procs: number;
  timeoutMinutes: number;
  /** How often, one run after the other on the same node. */
  runs: number;
  /** Folder for logs and reports. */
  out: string | undefined;
  /** Another containerd than the one on PATH. */
  containerd: string | undefined;
  /** On the simulated runtime, without containers. */
  simulated: boolean;
  /** There, so many nodes of `actorlet nodes` in one process; undefined: an agent by itself. */
  fleet: number | undefined;
  /** The suite starts and restarts the agent itself, on this machine's kernel. */
  services: boolean;
  /** The same in a virtual machine with systemd and cgroup v2 (`bin/vm`). */
  vm: boolean;
  /** What that machine has of its own, where it is not the usual one. */
  machine: Partial<SuiteMachine>;
  /** There, the agent's folder lies on the machine's only disk. */
  oneDisk: boolean;
  /** The suite stands between agent and runtime, and has calls fail or wait. */
  criProxy: boolean;
  /** The images of CSI's sidecars are there, and what these call the API server at. */
  csi: boolean;
  /** Services and names work: kube-proxy and CoreDNS beside the node. */
  kubeProxy: boolean;
  /** With the project's CSI driver, for specs of external drivers. */
  csiDriver: boolean;
  featureGates: Record<string, boolean>;
  /** Run nothing: name the specs that were never passed. */
  neverPassed: boolean;
  /** Keep the result under this part's name and write docs/conformance.md anew. */
  keep: string | undefined;
}

/** A machine of `--vm`. */
export interface SuiteMachine {
  /** Processors. */
  cpus: number;
  /** NUMA nodes, which share them. */
  numa: number;
  /** How many of them are one core. */
  threads: number;
  /** MiB. */
  memory: number;
}

/** The usual one. */
export const MACHINE: SuiteMachine = { cpus: 4, numa: 2, threads: 1, memory: 4096 };

const SKIP = '\\[Serial\\]|\\[Disruptive\\]|\\[Slow\\]|Windows';

export const USAGE = `usage: bin/conformance [FOCUS] [flags]
Runs Kubernetes' own end-to-end suite (built from its Go module) against a node of its own: a control plane, a
containerd with images made here, and the agent. FOCUS is a regular expression over the specs' names; by default
\\[NodeConformance\\]. Prints each spec beside the reference kubelet's kept result, and every difference.
  --agent actorlet|kubelet   who serves the node (actorlet)
  --suite e2e|node           the suite of clusters, or that of nodes (e2e)
  --skip REGEX               specs to leave out (\\[Serial\\]|\\[Disruptive\\]|\\[Slow\\]|Windows; with --simulated also those
                             that need processes; with --services, --vm and --never-passed only Windows)
  --procs N                  specs at a time (8)
  --timeout MINUTES          end of a run (80)
  --runs N                   runs in a row on the same node (1)
  --out DIR                  keep logs and reports there (otherwise they are removed)
  --containerd PATH          another containerd, e.g. $(test/tools/build.sh containerd2), with the runc that is first in PATH; with --vm one
                             below this checkout or ~/.cache/actorlet
  --simulated                no containers: the simulated runtime, which plays a few simple programs
  --fleet N                  with --simulated: on the nodes of 'actorlet nodes --count N', at least 2, in place of an agent by itself
  --services                 the suite of nodes with services of its own: it brings an API server and etcd, and starts the agent and
                             restarts it by itself; one spec at a time, those that are serial, slow or disruptive too
  --vm                       the same in a virtual machine of bin/vm (systemd, cgroup v2, 4 CPUs in 2 NUMA nodes). Computing takes
                             12 times as long there
  --cpus N, --numa N         with --vm: another number of processors (4), or of NUMA nodes, which share them (2)
  --threads N, --memory MIB  with --vm: how many processors are one core (1), and another size of its memory (4096)
  --one-disk                 with --vm: all is on one disk, as specs of eviction for a disk want it; else the agent's folder is on one of its
                             own that counts by project, for specs of quotas
  --cri-proxy                with --services or --vm: the suite stands between agent and runtime, for specs of [Feature:CriProxy]
  --csi                      with the images of CSI's sidecars and of the suite's mock driver, and the API server at its service's address,
                             for specs of 'CSI Mock'
  --csi-driver               the node has the project's CSI driver, and the cluster a default storage class of it, for specs of
                             External Storage and those that want such a class
  --kube-proxy               with kube-proxy and CoreDNS beside the node, for specs of Services and DNS
  --feature-gates A=true,... for the agent and the control plane, which then serves every version of its APIs
  --never-passed             run nothing: print the specs (of FOCUS, --suite, --skip) that no kept result says the agent has passed
  --keep PART                keep the result (test/conformance/results) and write docs/conformance.md anew
Exit code 0: every spec that the reference passes was passed (with --simulated those that need processes apart); 1: not;
2: wrong flags.
`;

/** Reads the command line. Throws with a message for people. */
export function conformanceOptions(args: readonly string[]): ConformanceOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      agent: { type: 'string', default: 'actorlet' },
      suite: { type: 'string' },
      skip: { type: 'string' },
      procs: { type: 'string', default: '8' },
      timeout: { type: 'string', default: '80' },
      runs: { type: 'string', default: '1' },
      out: { type: 'string' },
      containerd: { type: 'string' },
      simulated: { type: 'boolean', default: false },
      fleet: { type: 'string' },
      services: { type: 'boolean', default: false },
      vm: { type: 'boolean', default: false },
      cpus: { type: 'string' },
      numa: { type: 'string' },
      threads: { type: 'string' },
      memory: { type: 'string' },
      'one-disk': { type: 'boolean', default: false },
      'cri-proxy': { type: 'boolean', default: false },
      csi: { type: 'boolean', default: false },
      'csi-driver': { type: 'boolean', default: false },
      'kube-proxy': { type: 'boolean', default: false },
      'feature-gates': { type: 'string', default: '' },
      'never-passed': { type: 'boolean', default: false },
      keep: { type: 'string' },
    },
  });
  const { agent } = values;
  if (agent !== 'actorlet' && agent !== 'kubelet')
    throw new Error(`--agent ${agent}: accepted are actorlet and kubelet`);
  const { vm } = values;
  const services = values.services && !vm;
  const once = vm || services;
  const { suite = once ? 'node' : 'e2e' } = values;
  if (once && (suite !== 'node' || values.simulated || values.runs !== '1'))
    throw new Error('--services, --vm: run the suite of nodes once, so not with --suite e2e, --simulated or --runs');
  const oneDisk = values['one-disk'];
  if (oneDisk && !vm) throw new Error('--one-disk: says how the disks of --vm lie, so not without it');
  const machine: Partial<SuiteMachine> = {};
  for (const part of ['cpus', 'numa', 'threads', 'memory'] as const) {
    const text = values[part];
    if (text !== undefined) machine[part] = positive(`--${part}`, text);
  }
  if (Object.keys(machine).length > 0 && !vm)
    throw new Error('--cpus, --numa, --threads, --memory: are of the machine of --vm, so not without it');
  const criProxy = values['cri-proxy'];
  if (criProxy && !once) throw new Error('--cri-proxy: is of the suite of nodes with --services or --vm');
  const { csi } = values;
  if (csi && (suite !== 'e2e' || values.simulated))
    throw new Error('--csi: is of the suite of clusters with real containers, so not with --suite node or --simulated');
  const csiDriver = values['csi-driver'];
  if (csiDriver && (suite !== 'e2e' || values.simulated))
    throw new Error('--csi-driver: is of the suite of clusters, so not with --suite node or --simulated');
  const kubeProxy = values['kube-proxy'];
  if (kubeProxy && (suite !== 'e2e' || values.simulated))
    throw new Error(
      '--kube-proxy: is of the suite of clusters with real containers, so not with --suite node or --simulated',
    );
  const fleet = values.fleet === undefined ? undefined : positive('--fleet', values.fleet);
  if (fleet !== undefined && (!values.simulated || suite !== 'e2e' || agent !== 'actorlet'))
    throw new Error('--fleet: says how many nodes --simulated has, in the suite of clusters, without --agent kubelet');
  if (fleet === 1) throw new Error('--fleet 1: one node is no fleet, accepted are whole numbers from 2 on');
  if (suite !== 'e2e' && suite !== 'node') throw new Error(`--suite ${suite}: accepted are e2e and node`);
  if (positionals.length > 1) throw new Error(`one FOCUS at most, not ${positionals.length}; quote it`);
  if (values.keep !== undefined && !/^[a-z0-9-]+$/.test(values.keep)) {
    throw new Error(`--keep ${values.keep}: accepted are small letters, digits and dashes`);
  }
  return {
    agent,
    suite,
    focus: positionals[0] ?? '\\[NodeConformance\\]',
    skip:
      values.skip ??
      [
        once || values['never-passed'] ? 'Windows' : SKIP,
        ...(values.simulated ? simulatedLimitNames(fleet !== undefined).map(literal) : []),
      ].join('|'),
    procs: once ? 1 : positive('--procs', values.procs),
    timeoutMinutes: positive('--timeout', values.timeout),
    runs: positive('--runs', values.runs),
    out: values.out,
    containerd: values.containerd,
    simulated: values.simulated,
    fleet,
    services,
    vm,
    machine,
    oneDisk,
    criProxy,
    csi,
    csiDriver,
    kubeProxy,
    featureGates: gates(values['feature-gates']),
    neverPassed: values['never-passed'],
    keep: values.keep,
  };
}

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${flag} ${text}: accepted are whole numbers from 1 on`);
  return value;
}

/** Gates as `--feature-gates` has them, '' when there are none. */
export function gatesText(featureGates: Readonly<Record<string, boolean>>): string {
  return Object.entries(featureGates)
    .map(([gate, on]) => `${gate}=${on}`)
    .join(',');
}

function gates(text: string): Record<string, boolean> {
  const out: Record<string, boolean> = {};
  for (const pair of text.split(',').filter((part) => part !== '')) {
    const [name = '', value] = pair.split('=');
    if (value !== 'true' && value !== 'false')
      throw new Error(`--feature-gates ${pair}: accepted are NAME=true and NAME=false`);
    out[name] = value === 'true';
  }
  return out;
}
