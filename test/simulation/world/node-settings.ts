import type { ContainerGcPolicy } from '../../../machines/container-gc/container-gc-context.ts';
import { ALL_BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';

export const NODE_NAME = 'sim';
/** Where all static pods come from. */
export const STATIC_ORIGIN = { kind: 'file', location: '/etc/kubernetes/manifests', nodeName: NODE_NAME } as const;
export const ROOT_DIR = '/var/lib/kubelet';

/** The simulated node, as its machines are told of it. */
export function nodeSettings(seed: number): NodeSettings {
  const { maxPerContainer } = keptContainers(seed);
  return {
    nodeName: NODE_NAME,
    runtimeName: 'actorlet-sim',
    hostname: NODE_NAME,
    nodeIPs: ['10.99.0.1'],
    rootDir: ROOT_DIR,
    podLogsDir: '/var/log/pods',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: '/',
    cgroupsPerQOS: true,
    cgroupVersion: 1,
    clusterDNS: [],
    clusterDomain: 'cluster.local',
    hostResolver: { nameservers: ['1.1.1.1'], searches: [], options: [] },
    capacity: { cpuMilli: 4000, memoryBytes: 8 * 2 ** 30, ephemeralStorageBytes: 2 ** 30 },
    allocatable: { cpuMilli: 4000, memoryBytes: 8 * 2 ** 30, ephemeralStorageBytes: 2 ** 30 },
    maxContainerRestartPeriodMs: 300_000,
    cpuCFSQuota: true,
    cpuCFSQuotaPeriodUs: 100_000,
    podPidsLimit: -1,
    seccompDefault: false,
    runtimeRequestTimeoutMs: 120_000,
    runtimeFeatures: { recursiveReadOnlyMounts: true, userNamespaces: true, supplementalGroupsPolicy: true },
    cluster: true,
    ...(maxPerContainer > 1 && { keptDead: maxPerContainer }),
    behaviour: [...ALL_BEHAVIOUR],
  };
}

/** How many ended containers the node keeps: as usual, none, or several. */
export function keptContainers(seed: number): ContainerGcPolicy {
  if (seed % 3 === 0) return { minAgeMs: 0, maxPerContainer: 1, maxContainers: -1 };
  if (seed % 3 === 1) return { minAgeMs: 0, maxPerContainer: 0, maxContainers: 0 };
  return { minAgeMs: 5_000, maxPerContainer: 3, maxContainers: 4 };
}
