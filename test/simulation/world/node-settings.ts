import type { ContainerGcPolicy } from '../../../machines/container-gc/container-gc-context.ts';
import { ALL_BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import type { ResourceRules } from '../../../machines/resource-managers/resource-ground.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';

export const NODE_NAME = 'sim';
/** Where all static pods come from. */
export const STATIC_ORIGIN = { kind: 'file', location: '/etc/kubernetes/manifests', nodeName: NODE_NAME } as const;
/** So long after a file changed they are read, ms: one that is away for less was never seen to be. */
export const FILES_SETTLE_MS = 50;
export const ROOT_DIR = '/var/lib/kubelet';

/** CPUs of the machine of a node that gives them away. */
export const MACHINE_CPUS = 256;

/** A machine of four NUMA nodes with two threads a core, whose node has the static policies. */
export function resourceRules(): ResourceRules {
  const [nodes, perNode] = [4, MACHINE_CPUS / 8];
  const GIB = 2 ** 30;
  return {
    machine: {
      cpus: MACHINE_CPUS,
      sockets: 2,
      nodes: Array.from({ length: nodes }, (_, id) => ({
        id,
        memory: 16 * GIB,
        hugePages: [],
        distances: Array.from({ length: nodes }, (_other, to) => (to === id ? 10 : 21)),
        cores: Array.from({ length: perNode }, (_core, i) => {
          const core = id * perNode + i;
          return { socket: Math.floor(id / 2), threads: [core, core + MACHINE_CPUS / 2] };
        }),
      })),
    },
    cpu: { policy: 'static', options: {}, gates: { alpha: false, beta: true }, reservedMilli: 2000, reserved: '0,128' },
    memory: {
      policy: 'Static',
      reservedMemory: [{ node: 0, limits: { memory: GIB } }],
      whole: { memory: GIB },
    },
    topology: { policy: 'best-effort', scope: 'container', options: {} },
    reuseIsExact: true,
    podLevelResources: true,
    resizes: { cpu: false, memory: false },
    quotaOff: true,
    retryMs: 10_000,
  };
}

/** The simulated node, as its machines are told of it. */
export function nodeSettings(seed: number, { managers = false, roomy = false } = {}): NodeSettings {
  const { maxPerContainer } = keptContainers(seed);
  const cpuMilli = managers ? MACHINE_CPUS * 1000 : 4000;
  const memoryBytes = (managers ? 64 : 8) * 2 ** 30;
  const ephemeralStorageBytes = roomy ? 2 ** 36 : 2 ** 30;
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
    capacity: { cpuMilli, memoryBytes, ephemeralStorageBytes },
    allocatable: { cpuMilli, memoryBytes, ephemeralStorageBytes },
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
