import { execFile } from 'node:child_process';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import type { CriClient } from '../../cri/client/cri-client.ts';
import type { VersionResponse } from '../../cri/generated/runtime/v1/api.ts';
import { fixedAddresses } from '../../machines/node-object/node-addresses.ts';
import type { MachineFacts, NodeObjectConfig } from '../../machines/node-object/node-types.ts';
import { allocatableOf, machineCapacity } from '../../machines/node-object/node-resources.ts';
import { parseBytes, parseCpuMilli } from '../../machines/values/quantity.ts';
import { ALL_BEHAVIOUR } from '../../machines/protocol/behaviour.ts';
import type { NodeSettings } from '../../machines/protocol/node-settings.ts';
import { unreserved } from '../../machines/qos/node-limits.ts';
import { resolveFeatureGates } from '../configure/configuration/feature-gates.ts';
import { containerBackOff } from './container-back-off.ts';
import type { KubeletFlags } from '../configure/configuration/kubelet-flags.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import type { CgroupHost } from '../host/files/cgroup-host.ts';
import { findHostAddress } from '../cluster/node-object/host-address.ts';
import { readMachineFacts } from '../resources/machine/machine-facts.ts';
import { selinuxIsOn } from '../resources/machine/selinux.ts';
import { nodeObjectConfigOf } from '../cluster/node-object/node-object-config.ts';
import {
  hugePageName,
  interfaceAddresses,
  nodeNameOf,
  resolverOf,
  thermalPaths,
} from '../resources/machine/node-facts.ts';

/** What the machines are told of the node (`cluster`: it has an API server): configuration, facts of the machine and of the runtime in one plain object. */
export async function nodeSettingsOf(
  config: KubeletConfiguration,
  flags: KubeletFlags,
  cgroups: CgroupHost,
  cri: CriClient,
  cluster: boolean,
): Promise<NodeSettings> {
  const nodeName = nodeNameOf(flags.hostnameOverride);
  const machine = readMachineFacts(flags.rootDir);
  const version = await cri.runtime.version({ version: 'v1' });
  const { runtimeHandlers, features } = await cri.runtime
    .status({})
    .catch(() => ({ runtimeHandlers: [], features: undefined }));
  const handler = runtimeHandlers.find((h) => h.name === '')?.features;
  const { gates } = resolveFeatureGates(config.featureGates);
  const shape = nodeObjectConfigOf(nodeName, config, flags);
  const left = unreserved(machineCapacity(machine, shape), config);
  return {
    nodeName,
    runtimeName: version.runtimeName,
    hostname: hostname(),
    nodeIPs: await addressesOf(nodeName, flags.nodeIPs),
    givenIPs: flags.nodeIPs,
    rootDir: flags.rootDir,
    podLogsDir: config.podLogsDir,
    cgroupDriver: config.cgroupDriver === 'systemd' ? 'systemd' : 'cgroupfs',
    cgroupRoot: config.cgroupRoot === '' ? '/' : config.cgroupRoot,
    cgroupsPerQOS: config.cgroupsPerQOS,
    cgroupVersion: cgroups.version,
    clusterDNS: config.clusterDNS,
    clusterDomain: config.clusterDomain,
    hostResolver: resolverOf(config.resolvConf),
    ...(config.resolvConf !== '' && { resolvConf: config.resolvConf }),
    capacity: {
      cpuMilli: machine.cores * 1000,
      memoryBytes: machine.memoryBytes,
      ephemeralStorageBytes: machine.ephemeralStorageBytes ?? 0,
    },
    allocatable: allocatableOfNode(machine, shape),
    unreserved: left,
    ...containerBackOff(config, gates),
    cpuCFSQuota: config.cpuCFSQuota,
    cpuCFSQuotaPeriodUs: config.cpuCFSQuotaPeriod * 1000,
    podPidsLimit: config.podPidsLimit,
    seccompDefault: config.seccompDefault,
    runtimeRequestTimeoutMs: config.runtimeRequestTimeout,
    runtimeFeatures: {
      recursiveReadOnlyMounts: handler?.recursiveReadOnlyMounts ?? false,
      userNamespaces: handler?.userNamespaces ?? false,
      supplementalGroupsPolicy: features?.supplementalGroupsPolicy ?? false,
      ...(!mountsImages(version) && { withoutImageVolumes: `${version.runtimeName} ${version.runtimeVersion}` }),
    },
    // Told by whoever makes the node's cgroups: the agent's own may have the controller only since then.
    swapController: false,
    ...(cgroups.version === 2 &&
      config.memorySwap.swapBehavior === 'LimitedSwap' && { limitedSwapBytes: machine.swapBytes }),
    ...(cgroups.version === 2 &&
      gates.enabled('MemoryQoS') && {
        memoryQoS: {
          throttlingFactor: config.memoryThrottlingFactor,
          pageBytes: await pageBytes(),
          unreservedBytes: left.memoryBytes,
        },
      }),
    singleProcessOOMKill: config.singleProcessOOMKill ?? cgroups.version === 1,
    hugePageSizes: machine.hugePages.map(({ pageBytes }) => hugePageName(pageBytes)),
    extraMaskedPaths: thermalPaths(),
    hostsPath: '/etc/hosts',
    ...(selinuxIsOn() && { selinux: true }),
    ...(gates.enabled('LocalStorageCapacityIsolationFSQuotaMonitoring') &&
      gates.enabled('UserNamespacesSupport') && { volumeQuotas: true as const }),
    ...(gates.enabled('RuntimeClassInImageCriApi') && { imagesByHandler: true as const }),
    ...(gates.enabled('ContainerStopSignals') && { stopSignals: true }),
    ...(gates.enabled('InPlacePodLevelResourcesVerticalScaling') && { podLevelResizes: true as const }),
    ...(gates.enabled('GitRepoVolumeDriver') && { gitRepos: true as const }),
    ...(!gates.enabled('EnvFiles') && { envFiles: false }),
    ...(!gates.enabled('PreventStaticPodAPIReferences') && { staticReferences: true }),
    ...(!gates.enabled('PodReadyToStartContainersCondition') && { readyToStartCondition: false }),
    ...(gates.enabled('ChangeContainerStatusOnKubeletRestart') && { restartChangesStatus: true as const }),
    ...(gates.enabled('RestartAllContainersOnContainerExits') && { restartAllContainers: true as const }),
    // At least one, whatever the flag says: its log, and how it ended.
    ...(flags.maximumDeadContainersPerContainer > 1 && { keptDead: flags.maximumDeadContainersPerContainer }),
    ...(cluster && { cluster: true }),
    behaviour: [...ALL_BEHAVIOUR],
  };
}

/** Size of a memory page, which Node does not tell. */
async function pageBytes(): Promise<number> {
  const { stdout } = await promisify(execFile)('getconf', ['PAGESIZE']).catch(() => ({ stdout: '' }));
  return Number(stdout) || 4096;
}

/** Can the runtime mount images as volumes? CRI does not tell: older ones ignore what they do not know (containerd 2.1, CRI-O 1.31 can). */
export function mountsImages({
  runtimeName,
  runtimeVersion,
}: Pick<VersionResponse, 'runtimeName' | 'runtimeVersion'>): boolean {
  const first = { containerd: [2, 1], 'cri-o': [1, 31] }[runtimeName];
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(runtimeVersion) ?? [];
  if (first === undefined || major === undefined) return true;
  const [needed = 0, least = 0] = first;
  return Number(major) > needed || (Number(major) === needed && Number(minor) >= least);
}

/** Allocatable as the node's object shows it: capacity less what is reserved and what hard eviction keeps free. */
function allocatableOfNode(machine: MachineFacts, shape: NodeObjectConfig): NodeSettings['allocatable'] {
  const quantities = allocatableOf(machineCapacity(machine, shape), {}, shape);
  return {
    cpuMilli: parseCpuMilli(quantities['cpu'] ?? '0'),
    memoryBytes: parseBytes(quantities['memory'] ?? '0'),
    ephemeralStorageBytes: parseBytes(quantities['ephemeral-storage'] ?? '0'),
  };
}

/** The node's addresses: those that were given, else the one that kubelet would find, else any. */
async function addressesOf(nodeName: string, given: readonly string[]): Promise<string[]> {
  const fixed = fixedAddresses(given);
  if (fixed.length > 0) return fixed;
  const found = await findHostAddress(nodeName, given);
  return found === null ? interfaceAddresses() : [found];
}
