import { parseQuantity } from '../../../../machines/values/quantity.ts';
import { goDuration } from '../../../../machines/values/go-duration.ts';
import { parseCpuSet } from '../kubernetes-names.ts';
import type { Problem } from '../problems.ts';
import { type Rule, when } from './rule.ts';

const IDS_UNIT = 65_536;

/** Cgroups, quotas, swap, user namespaces, memory reservations. `failCgroupV1` is checked apart, in kubelet's words. */
export const cgroupRules: Rule = (config, { gates, cgroupVersion }) => {
  const period = config.cpuCFSQuotaPeriod;
  const custom = gates.enabled('CustomCPUCFSQuotaPeriod');
  const ids = config.userNamespaces?.idsPerPod;
  const { reservedSystemCPUs: cpus } = config;
  return [
    ...when(
      config.systemCgroups !== '' && config.cgroupRoot === '',
      'systemCgroups',
      config.systemCgroups,
      'nothing, unless cgroupRoot is set too',
    ),
    // Kubelet's container manager does not start ("system container cannot be root").
    ...when(config.systemCgroups === '/', 'systemCgroups', '/', 'any cgroup but the root'),
    ...when(
      !custom && period !== 100,
      'cpuCFSQuotaPeriod',
      goDuration(period),
      '100ms, while the feature gate CustomCPUCFSQuotaPeriod is off',
    ),
    ...when(custom && (period < 1 || period > 1000), 'cpuCFSQuotaPeriod', goDuration(period), '1ms to 1s'),
    ...when(
      !gates.enabled('NodeSwap') && config.memorySwap.swapBehavior !== '',
      'memorySwap.swapBehavior',
      config.memorySwap.swapBehavior,
      'nothing, while the feature gate NodeSwap is off',
    ),
    ...when(
      gates.enabled('NodeSwap') && cgroupVersion === 1 && config.memorySwap.swapBehavior === 'LimitedSwap',
      'memorySwap.swapBehavior',
      'LimitedSwap',
      '"NoSwap" or nothing on a machine with cgroup v1',
    ),
    ...when(
      cgroupVersion === 1 && config.singleProcessOOMKill === false,
      'singleProcessOOMKill',
      false,
      'true or nothing on a machine with cgroup v1',
    ),
    ...when(
      ids !== undefined && (ids < IDS_UNIT || ids % IDS_UNIT !== 0 || ids > 0xffff_ffff),
      'userNamespaces.idsPerPod',
      ids,
      'a multiple of 65536 below 2^32',
    ),
    ...when(
      cpus !== '' && (config.systemReservedCgroup !== '' || config.kubeReservedCgroup !== ''),
      'reservedSystemCPUs',
      cpus,
      'nothing, when systemReservedCgroup or kubeReservedCgroup is set',
    ),
    ...when(parseCpuSet(cpus) === undefined, 'reservedSystemCPUs', cpus, 'a list of CPUs such as "0-3,8"'),
    ...reservedMemory(config),
  ];
};

function reservedMemory(config: Parameters<Rule>[0]): Problem[] {
  const seen = new Set<string>();
  return config.reservedMemory.flatMap(({ numaNode, limits }, i) =>
    Object.entries(limits).flatMap(([name, amount]): Problem[] => {
      const path = `reservedMemory[${i}].limits.${name}`;
      const twice = seen.has(`${numaNode}/${name}`);
      seen.add(`${numaNode}/${name}`);
      return [
        ...when(
          name !== 'memory' && !name.startsWith('hugepages-'),
          path,
          amount,
          'memory or hugepages-<size> as the name',
        ),
        ...when(parseQuantity(amount) === 0n, path, amount, 'a quantity other than 0'),
        ...when(twice, path, amount, `one reservation of ${name} for NUMA node ${numaNode}`),
      ];
    }),
  );
}
