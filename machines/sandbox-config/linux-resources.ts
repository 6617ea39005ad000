import type { LinuxContainerResources } from '../protocol/cri-shapes.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { milliToQuota, milliToShares } from '../qos/cpu-shares.ts';
import { milli, units } from '../qos/resource-amounts.ts';

/** Settings that shape a container's or sandbox's cgroup. */
export type ResourceSettings = Pick<
  NodeSettings,
  'cpuCFSQuota' | 'cpuCFSQuotaPeriodUs' | 'cgroupVersion' | 'singleProcessOOMKill'
>;

/**
 * Shares, quota, period and memory limit (the kubelet's calculateLinuxResources). Amounts are nano units;
 * an absent CPU request takes the limit's place for shares. What is zero in protobuf is left out.
 */
export function linuxResources(
  amounts: { cpuRequest?: bigint; cpuLimit?: bigint; memoryLimit?: bigint },
  settings: ResourceSettings,
): LinuxContainerResources {
  const { cpuRequest, cpuLimit = 0n, memoryLimit = 0n } = amounts;
  const resources: LinuxContainerResources = { cpuShares: String(milliToShares(milli(cpuRequest ?? cpuLimit))) };
  if (memoryLimit !== 0n) resources.memoryLimitInBytes = String(units(memoryLimit));
  if (settings.cpuCFSQuota) {
    const quota = milliToQuota(milli(cpuLimit), settings.cpuCFSQuotaPeriodUs);
    if (quota !== 0) resources.cpuQuota = String(quota);
    resources.cpuPeriod = String(settings.cpuCFSQuotaPeriodUs);
  }
  // runc takes `unified` with cgroup v2 only.
  if (settings.cgroupVersion === 2 && settings.singleProcessOOMKill !== true) {
    resources.unified = { 'memory.oom.group': '1' };
  }
  return resources;
}
