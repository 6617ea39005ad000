import { reservedOf } from '../../../machines/node-object/node-resources.ts';
import type { MachineFacts, NodeObjectConfig } from '../../../machines/node-object/node-types.ts';
import { groundOf } from '../../../machines/admission/node-resources.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { nodeErrors } from '../../../machines/errors/node-errors.ts';
import { amountsOf, units } from '../../../machines/qos/resource-amounts.ts';
import { parseCpuSetList } from '../../../machines/resource-managers/cpu/cpu-set.ts';
import type { MachineTopology } from '../../../machines/resource-managers/machine/machine-topology.ts';
import { resourceGroundOf } from '../../../machines/resource-managers/resource-ground.ts';
import type { ResourceRules } from '../../../machines/resource-managers/resource-ground.ts';
import { ManagerConfigError } from '../../../machines/resource-managers/topology/topology-options.ts';
import { formatQuantity } from '../../../machines/values/quantity.ts';
import type { FeatureGates } from '../../configure/configuration/feature-gates.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';

/** What the configuration and the machine say of CPU, memory and topology manager. */
type ManagerConfig = Pick<
  KubeletConfiguration,
  | 'cpuManagerPolicy'
  | 'cpuManagerPolicyOptions'
  | 'cpuManagerReconcilePeriod'
  | 'memoryManagerPolicy'
  | 'reservedMemory'
  | 'reservedSystemCPUs'
  | 'topologyManagerPolicy'
  | 'topologyManagerScope'
  | 'topologyManagerPolicyOptions'
>;

/**
 * By what CPUs and memory are given away on this node.
 * @throws ActorletError NOD012 where kubelet does not start
 */
export function resourceRulesOf(
  config: ManagerConfig,
  gates: FeatureGates,
  machine: MachineTopology,
  node: { facts: MachineFacts; shape: NodeObjectConfig },
): ResourceRules {
  const { reservedSystemCPUs } = config;
  const whole = Object.fromEntries(
    Object.entries(reservedOf(node.facts, node.shape)).map(([name, nano]) => [name, nano]),
  );
  const bytesOf = (names: Readonly<Record<string, bigint>>): Record<string, number> =>
    Object.fromEntries(
      Object.entries(names).flatMap(([name, nano]) =>
        name === 'memory' || name.startsWith('hugepages-') ? [[name, units(nano)]] : [],
      ),
    );
  // Named CPUs count, whatever else is said of how many are reserved.
  const named = reservedSystemCPUs === '' ? 0 : parseCpuSetList(reservedSystemCPUs).size;
  const milli = Number(((whole['cpu'] ?? 0n) + 999_999n) / 1_000_000n);
  const rules: ResourceRules = {
    machine,
    cpu: {
      policy: config.cpuManagerPolicy,
      options: config.cpuManagerPolicyOptions,
      gates: {
        alpha: gates.enabled('CPUManagerPolicyAlphaOptions'),
        beta: gates.enabled('CPUManagerPolicyBetaOptions'),
      },
      reservedMilli: named > 0 ? named * 1000 : milli,
      reserved: reservedSystemCPUs,
    },
    memory: {
      policy: config.memoryManagerPolicy,
      reservedMemory: config.reservedMemory.map(({ numaNode, limits }) => ({
        node: numaNode,
        limits: bytesOf(amountsOf(limits)),
      })),
      whole: bytesOf(whole),
    },
    topology: {
      policy: config.topologyManagerPolicy,
      scope: config.topologyManagerScope,
      options: config.topologyManagerPolicyOptions,
    },
    countsAlone: true,
    reuseIsExact: true,
    podLevelResources: gates.enabled('PodLevelResources'),
    resizes: {
      cpu: gates.enabled('InPlacePodVerticalScalingExclusiveCPUs'),
      memory: gates.enabled('InPlacePodVerticalScalingExclusiveMemory'),
    },
    quotaOff: gates.enabled('DisableCPUQuotaWithExclusiveCPUs'),
    retryMs: config.cpuManagerReconcilePeriod,
  };
  try {
    if (!gates.enabled('TopologyManagerPolicyOptions')) refuseOptions(config.topologyManagerPolicyOptions);
    resourceGroundOf(rules, (bytes) => formatQuantity(BigInt(bytes) * 1_000_000_000n, 'BinarySI'));
    groundOf(rules);
  } catch (error) {
    if (!(error instanceof ManagerConfigError)) throw error;
    throw new ActorletError(nodeErrors.managersRefuse, { problem: error.message });
  }
  return rules;
}

/** Without the gate there may be none. @throws ManagerConfigError in kubelet's words */
function refuseOptions(options: Readonly<Record<string, string>>): void {
  const given = Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1));
  if (given.length === 0) return;
  const told = `map[${given.map(([name, value]) => `${name}:${value}`).join(' ')}]`;
  throw new ManagerConfigError(
    `topology manager policy options ${told} require feature gates "TopologyManagerPolicyOptions" enabled`,
  );
}
