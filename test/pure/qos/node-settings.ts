import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';

/** A node for tests of pure functions: cgroup v1, cgroupfs, 4 cores, 8 GiB, one IPv4 address, no cluster DNS. */
export function nodeSettings(changes: Partial<NodeSettings> = {}): NodeSettings {
  const resources = { cpuMilli: 4000, memoryBytes: 8 * 2 ** 30, ephemeralStorageBytes: 100 * 2 ** 30 };
  return {
    nodeName: 'node-1',
    runtimeName: 'containerd',
    hostname: 'node-1',
    nodeIPs: ['192.168.0.2'],
    rootDir: '/var/lib/kubelet',
    podLogsDir: '/var/log/pods',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: '/',
    cgroupsPerQOS: true,
    cgroupVersion: 1,
    clusterDNS: [],
    clusterDomain: 'cluster.local',
    hostResolver: { nameservers: ['10.1.1.1'], searches: ['lan'], options: [] },
    capacity: resources,
    allocatable: { ...resources, memoryBytes: 7 * 2 ** 30 },
    maxContainerRestartPeriodMs: 300_000,
    cpuCFSQuota: true,
    cpuCFSQuotaPeriodUs: 100_000,
    podPidsLimit: -1,
    seccompDefault: false,
    runtimeRequestTimeoutMs: 120_000,
    runtimeFeatures: { recursiveReadOnlyMounts: false, userNamespaces: false, supplementalGroupsPolicy: false },
    behaviour: [],
    ...changes,
  };
}
