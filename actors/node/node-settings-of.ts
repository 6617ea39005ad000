import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { CriClient } from '../../cri/client/cri-client.ts';
import { parseBytes, parseCpuMilli } from '../../machines/quantity.ts';
import type { NodeSettings } from '../../machines/protocol/node-settings.ts';
import type { KubeletFlags } from '../configuration/kubelet-flags.ts';
import type { KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import type { CgroupHost } from '../host/cgroup-detect.ts';
import { capacityOf, hugePageSizes, nodeIPsOf, nodeNameOf, readText, resolverOf, thermalPaths } from './node-facts.ts';

/** What the machines are told of the node (`cluster`: it has an API server): configuration, facts of the machine and of the runtime in one plain object. */
export async function nodeSettingsOf(
  config: KubeletConfiguration,
  flags: KubeletFlags,
  cgroups: CgroupHost,
  cri: CriClient,
  cluster: boolean,
): Promise<NodeSettings> {
  const capacity = capacityOf(flags.rootDir);
  const version = await cri.runtime.version({ version: 'v1' });
  const { runtimeHandlers, features } = await cri.runtime
    .status({})
    .catch(() => ({ runtimeHandlers: [], features: undefined }));
  const handler = runtimeHandlers.find((h) => h.name === '')?.features;
  return {
    nodeName: nodeNameOf(flags.hostnameOverride),
    runtimeName: version.runtimeName,
    hostname: hostname(),
    nodeIPs: nodeIPsOf(flags.nodeIPs),
    rootDir: flags.rootDir,
    podLogsDir: config.podLogsDir,
    cgroupDriver: config.cgroupDriver === 'systemd' ? 'systemd' : 'cgroupfs',
    cgroupRoot: config.cgroupRoot === '' ? '/' : config.cgroupRoot,
    cgroupsPerQOS: config.cgroupsPerQOS,
    cgroupVersion: cgroups.version,
    clusterDNS: config.clusterDNS,
    clusterDomain: config.clusterDomain,
    hostResolver: resolverOf(config.resolvConf),
    capacity,
    allocatable: allocatableOf(capacity, config),
    maxContainerRestartPeriodMs: config.crashLoopBackOff.maxContainerRestartPeriod ?? 300_000,
    cpuCFSQuota: config.cpuCFSQuota,
    cpuCFSQuotaPeriodUs: config.cpuCFSQuotaPeriod * 1000,
    podPidsLimit: config.podPidsLimit,
    seccompDefault: config.seccompDefault,
    syncFrequencyMs: config.syncFrequency,
    runtimeRequestTimeoutMs: config.runtimeRequestTimeout,
    imagePullProgressDeadlineMs: 60_000,
    runtimeFeatures: {
      recursiveReadOnlyMounts: handler?.recursiveReadOnlyMounts ?? false,
      userNamespaces: handler?.userNamespaces ?? false,
      supplementalGroupsPolicy: features?.supplementalGroupsPolicy ?? false,
    },
    swapController: existsSync(`${cgroups.mounts['memory'] ?? '/nowhere'}/memory.memsw.limit_in_bytes`),
    singleProcessOOMKill: config.singleProcessOOMKill ?? cgroups.version === 1,
    hugePageSizes: hugePageSizes(),
    extraMaskedPaths: thermalPaths(),
    nodeHosts: readText('/etc/hosts'),
    ...(cluster && { cluster: true }),
    behaviour: [],
  };
}

/** Allocatable = capacity less what is reserved for system and Kubernetes daemons. */
function allocatableOf(capacity: NodeSettings['capacity'], config: KubeletConfiguration): NodeSettings['allocatable'] {
  const reserved = [config.kubeReserved, config.systemReserved];
  const sum = (name: string, parse: (q: string) => number) =>
    reserved.reduce((total, r) => total + (r[name] === undefined ? 0 : parse(r[name])), 0);
  return {
    cpuMilli: Math.max(0, capacity.cpuMilli - sum('cpu', parseCpuMilli)),
    memoryBytes: Math.max(0, capacity.memoryBytes - sum('memory', parseBytes)),
    ephemeralStorageBytes: Math.max(0, capacity.ephemeralStorageBytes - sum('ephemeral-storage', parseBytes)),
  };
}
