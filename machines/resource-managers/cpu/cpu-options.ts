import { ManagerConfigError, boolOption } from '../topology/topology-options.ts';
import type { TopologyPolicy } from '../topology/topology-options.ts';
import type { CpuTopology } from './cpu-topology.ts';

/** Options of the static policy. */
export interface CpuOptions {
  /** full-pcpus-only: nobody shares a core. */
  fullCores: boolean;
  /** distribute-cpus-across-numa. */
  acrossNodes: boolean;
  /** align-by-socket. */
  bySocket: boolean;
  /** distribute-cpus-across-cores. */
  acrossCores: boolean;
  /** strict-cpu-reservation: reserved CPUs are not in the shared pool. */
  strictReservation: boolean;
  /** prefer-align-cpus-by-uncorecache. */
  byUncore: boolean;
}

/** Names of options, who they are here, and what gate they wait for. */
const OPTIONS: Readonly<Record<string, { key: keyof CpuOptions; level: 'Alpha' | 'Beta' | 'Stable' }>> = {
  'full-pcpus-only': { key: 'fullCores', level: 'Stable' },
  'distribute-cpus-across-numa': { key: 'acrossNodes', level: 'Beta' },
  'align-by-socket': { key: 'bySocket', level: 'Alpha' },
  'distribute-cpus-across-cores': { key: 'acrossCores', level: 'Alpha' },
  'strict-cpu-reservation': { key: 'strictReservation', level: 'Stable' },
  'prefer-align-cpus-by-uncorecache': { key: 'byUncore', level: 'Beta' },
};

/** Which options may be used: gates CPUManagerPolicyAlphaOptions and CPUManagerPolicyBetaOptions. */
export interface CpuOptionGates {
  alpha: boolean;
  beta: boolean;
}

/** @throws ManagerConfigError in kubelet's words */
export function cpuOptionsOf(given: Readonly<Record<string, string>>, gates: CpuOptionGates): CpuOptions {
  const out: CpuOptions = {
    fullCores: false,
    acrossNodes: false,
    bySocket: false,
    acrossCores: false,
    strictReservation: false,
    byUncore: false,
  };
  for (const [name, value] of Object.entries(given)) {
    const option = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
    if (option === undefined)
      throw new ManagerConfigError(`unknown CPU Manager Policy option: ${JSON.stringify(name)}`);
    const { key, level } = option;
    if ((level === 'Alpha' && !gates.alpha) || (level === 'Beta' && !gates.beta)) {
      throw new ManagerConfigError(
        `CPU Manager Policy ${level}-level Options not enabled, but option ${JSON.stringify(name)} provided`,
      );
    }
    out[key] = boolOption(name, value);
  }
  exclude(out);
  return out;
}

const TOGETHER: readonly [keyof CpuOptions, string, keyof CpuOptions, string][] = [
  ['fullCores', 'full-pcpus-only', 'acrossCores', 'distribute-cpus-across-cores'],
  ['acrossNodes', 'distribute-cpus-across-numa', 'acrossCores', 'distribute-cpus-across-cores'],
  ['byUncore', 'prefer-align-cpus-by-uncorecache', 'acrossCores', 'distribute-cpus-across-cores'],
  ['byUncore', 'prefer-align-cpus-by-uncorecache', 'acrossNodes', 'distribute-cpus-across-numa'],
];

function exclude(options: CpuOptions): void {
  for (const [one, oneName, other, otherName] of TOGETHER) {
    if (options[one] && options[other]) {
      throw new ManagerConfigError(
        `static policy options ${oneName} and ${otherName} can not be used at the same time`,
      );
    }
  }
}

/** Do the options suit this machine? @throws ManagerConfigError in kubelet's words */
export function checkOptionsOn(
  { bySocket }: CpuOptions,
  { sockets, nodes }: CpuTopology,
  policy: TopologyPolicy,
): void {
  if (!bySocket) return;
  if (policy === 'single-numa-node') {
    throw new ManagerConfigError(
      'Topolgy manager single-numa-node policy is incompatible with CPUManager align-by-socket policy option',
    );
  }
  if (sockets > nodes) {
    throw new ManagerConfigError(
      'Align by socket is not compatible with hardware where number of sockets are more than number of NUMA',
    );
  }
}
