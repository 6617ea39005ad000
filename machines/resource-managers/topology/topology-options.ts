import type { MachineTopology } from '../machine/machine-topology.ts';
import { parseGoBool } from '../machine/go-bool.ts';
import { MOST_NODE_ID } from './node-mask.ts';

/** `topologyManagerPolicy`. */
export type TopologyPolicy = 'none' | 'best-effort' | 'restricted' | 'single-numa-node';

/** What the topology manager goes by. */
export interface TopologyRules {
  policy: TopologyPolicy;
  scope: 'container' | 'pod';
  /** Option prefer-closest-numa-nodes. */
  preferClosest: boolean;
}

/** More nodes than that have more sets than anybody wants to try. */
const MOST_NODES = 8;

/** Thrown where kubelet does not start, in its words. */
export class ManagerConfigError extends Error {}

/** @throws ManagerConfigError as kubelet's topologymanager.NewManager */
export function topologyRulesOf(
  { nodes }: MachineTopology,
  policy: TopologyPolicy,
  scope: 'container' | 'pod',
  options: Readonly<Record<string, string>>,
): TopologyRules {
  if (policy === 'none') return { policy, scope, preferClosest: false };
  let [preferClosest, most] = [false, MOST_NODES];
  for (const [name, value] of Object.entries(options)) {
    if (name === 'prefer-closest-numa-nodes') preferClosest = boolOption(name, value);
    else if (name === 'max-allowable-numa-nodes') most = mostNodes(name, value);
    else throw new ManagerConfigError(`unknown Topology Manager Policy option: ${JSON.stringify(name)}`);
  }
  if (preferClosest && nodes.some(({ distances }) => distances === null)) {
    throw new ManagerConfigError('cannot discover NUMA topology: error getting NUMA distances from cadvisor');
  }
  if (nodes.length > most || nodes.some(({ id }) => id > MOST_NODE_ID)) {
    throw new ManagerConfigError(`unsupported on machines with more than ${most} NUMA Nodes`);
  }
  return { policy, scope, preferClosest };
}

/** @throws ManagerConfigError when it is no boolean of Go's */
export function boolOption(name: string, value: string): boolean {
  const read = parseGoBool(value);
  if (read !== null) return read;
  const why = `strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`;
  throw new ManagerConfigError(`bad value for option ${JSON.stringify(name)}: ${why}`);
}

function mostNodes(name: string, value: string): number {
  if (!/^[+-]?\d{1,15}$/.test(value)) {
    const why = `strconv.Atoi: parsing ${JSON.stringify(value)}: invalid syntax`;
    throw new ManagerConfigError(`unable to convert policy option to integer ${JSON.stringify(name)}: ${why}`);
  }
  if (Number(value) < MOST_NODES) {
    throw new ManagerConfigError(`the minimum value of ${JSON.stringify(name)} should not be less than ${MOST_NODES}`);
  }
  return Number(value);
}
