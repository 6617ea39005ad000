import type { MachineTopology } from './machine/machine-topology.ts';
import { cpuGroundOf, bornShared } from './cpu/cpu-ground.ts';
import type { CpuOptionGates } from './cpu/cpu-options.ts';
import { checkOptionsOn, cpuOptionsOf } from './cpu/cpu-options.ts';
import { cpuSetText, parseCpuSetList } from './cpu/cpu-set.ts';
import { TopologyError, cpuTopologyOf } from './cpu/cpu-topology.ts';
import { bornMemory, checkReserved } from './memory/memory-ground.ts';
import type { ReservedGiven } from './memory/memory-ground.ts';
import { ManagerConfigError, topologyRulesOf } from './topology/topology-options.ts';
import type { TopologyPolicy } from './topology/topology-options.ts';
import type { ResourceGround, ResourceState } from './admit-resources.ts';

/** What a node is configured with, plain JSON: what its CPU, memory and topology managers are made of. */
export interface ResourceRules {
  machine: MachineTopology;
  cpu: {
    policy: 'none' | 'static';
    options: Readonly<Record<string, string>>;
    gates: CpuOptionGates;
    /** CPUs reserved for system and Kubernetes together, in thousandths. */
    reservedMilli: number;
    /** `reservedSystemCPUs`. */
    reserved: string;
  };
  memory: { policy: 'None' | 'Static' } & Omit<ReservedGiven, 'shown'>;
  topology: { policy: TopologyPolicy; scope: 'container' | 'pod'; options: Readonly<Record<string, string>> };
  /** What the topology manager aligns is counted also where it has no other manager to ask but that of devices. Absent in older logs: it is not. */
  countsAlone?: true;
  /**
   * An init container loses in the books what a later container took over of its memory, and no more. Absent in older logs: as much as the later one
   * has, as in kubelet, whose books are wrong once it has restarted, so that it does not start again after that.
   */
  reuseIsExact?: true;
  /** Gate PodLevelResources. */
  podLevelResources: boolean;
  /** Gates InPlacePodVerticalScalingExclusiveCPUs and InPlacePodVerticalScalingExclusiveMemory. */
  resizes: { cpu: boolean; memory: boolean };
  /** Gate DisableCPUQuotaWithExclusiveCPUs. */
  quotaOff: boolean;
  /** `cpuManagerReconcilePeriod`: pause after a running container's CPUs could not be changed, ms. */
  retryMs: number;
}

/** An amount as kubelet shows it in an error. */
export type ShownAmount = ReservedGiven['shown'];

/**
 * What managers decide by, of what the node is configured with.
 * @throws ManagerConfigError where kubelet does not start, in its words
 */
export function resourceGroundOf(rules: ResourceRules, shown: ShownAmount = String): ResourceGround {
  const { machine, cpu, memory, topology } = rules;
  const aligned = topologyRulesOf(machine, topology.policy, topology.scope, topology.options);
  const places = asConfigError(() => cpuTopologyOf(machine));
  let ground: ResourceGround['cpu'] = null;
  if (cpu.policy === 'static') {
    // What is reserved has no entry for nothing: kubelet's other words, of a zero, are never said.
    if (cpu.reservedMilli === 0)
      throw new ManagerConfigError('[cpumanager] unable to determine reserved CPU resources for static policy');
    const because = (make: () => ResourceGround['cpu']): ResourceGround['cpu'] => {
      try {
        return make();
      } catch (error) {
        if (!(error instanceof ManagerConfigError)) throw error;
        throw new ManagerConfigError(`new static policy error: ${error.message}`);
      }
    };
    ground = because(() => {
      const options = cpuOptionsOf(cpu.options, cpu.gates);
      checkOptionsOn(options, places, topology.policy);
      return cpuGroundOf(places, options, Math.ceil(cpu.reservedMilli / 1000), parseCpuSetList(cpu.reserved));
    });
  } else if (Object.keys(cpu.options).length > 0) {
    const all = Object.keys(cpu.options)
      .sort()
      .map((name) => `${name}:${cpu.options[name] ?? ''}`);
    const why = `None policy: received unsupported options=map[${all.join(' ')}]`;
    throw new ManagerConfigError(`new none policy error: ${why}`);
  }
  if (memory.policy === 'Static') checkReserved(machine, { ...memory, shown });
  const { podLevelResources, reuseIsExact = false } = rules;
  return { machine, topology: aligned, cpu: ground, podLevelResources, reuseIsExact };
}

/** Nothing was given away yet. */
export function bornResources(rules: ResourceRules, ground: ResourceGround): ResourceState {
  return {
    cpu: ground.cpu && { shared: cpuSetText(bornShared(ground.cpu)), pods: {} },
    memory: rules.memory.policy === 'Static' ? bornMemory(rules.machine, rules.memory.reservedMemory) : null,
  };
}

function asConfigError<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof TopologyError) throw new ManagerConfigError(error.message);
    throw error;
  }
}
