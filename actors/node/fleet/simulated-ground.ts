import { join } from 'node:path';
import type { Logger } from 'pino';
import { allocatableOf, machineCapacity } from '../../../machines/node-object/node-resources.ts';
import { unregisteredNode } from '../../../machines/node-object/initial-node.ts';
import type { MachineFacts } from '../../../machines/node-object/node-types.ts';
import { ALL_BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import { parseBytes, parseCpuMilli } from '../../../machines/values/quantity.ts';
import { nodeObjectConfigOf } from '../../cluster/node-object/node-object-config.ts';
import type { FeatureGates } from '../../configure/configuration/feature-gates.ts';
import { resourceRulesOf } from '../../resources/admission/resource-rules.ts';
import { containerBackOff } from '../container-back-off.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../../configure/configuration/kubelet-flags.ts';
import { gatheringDisk } from '../../record/journal/log-disk.ts';
import { containerGcPolicy } from '../container-gc-policy.ts';
import { journalShares } from '../journal-shares.ts';
import type { JournalShares } from '../journal-shares.ts';
import type { NodeGround } from '../node-ground.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import { machineHosts } from './machine-files.ts';
import { machineTopology } from './machine-topology.ts';
import type { PlannedNode } from './profile/plan-nodes.ts';

/** What all nodes of the process have in common. */
export interface CommonGround {
  config: KubeletConfiguration;
  featureGates: FeatureGates;
  flags: KubeletFlags;
  /** Of the whole process: what one node sets, the next one may overwrite. */
  metrics: Metrics;
  agent: string;
  log: Logger;
  /** Folder of the nodes' journals, with one for each node, and what each may take of the disk, bytes; null: nothing is journaled. */
  journals: { dir: string; maxBytes: number } | null;
}

/** What was settled before the first part of a simulated node is made; `flags` are the node's own. */
export function simulatedGround(
  common: CommonGround,
  node: PlannedNode,
  machine: MachineFacts,
  address: string,
): NodeGround & { flags: KubeletFlags } {
  const { group, name, labels } = node;
  const config: KubeletConfiguration = {
    ...common.config,
    maxPods: group.machine.pods,
    podCIDR: node.podCIDR,
    registerWithTaints: [...common.config.registerWithTaints, ...group.taints],
  };
  const flags: KubeletFlags = {
    ...common.flags,
    // Its checkpoints, and where its volumes would be.
    rootDir: join(common.flags.rootDir, 'nodes', name),
    hostnameOverride: name,
    nodeIPs: [address],
    nodeLabels: { ...common.flags.nodeLabels, ...labels },
  };
  const shape = nodeObjectConfigOf(name, config, flags);
  const capacity = machineCapacity(machine, shape);
  const allocatable = allocatableOf(capacity, {}, shape);
  const { rootDir } = flags;
  const settings: NodeSettings = {
    nodeName: name,
    runtimeName: 'actorlet-sim',
    hostname: name,
    nodeIPs: [address],
    rootDir,
    podLogsDir: config.podLogsDir,
    hostsPath: machineHosts(rootDir),
    cgroupDriver: 'cgroupfs',
    cgroupRoot: '/',
    cgroupsPerQOS: config.cgroupsPerQOS,
    cgroupVersion: 2,
    clusterDNS: config.clusterDNS,
    clusterDomain: config.clusterDomain,
    hostResolver: { nameservers: ['192.0.2.53'], searches: [], options: [] },
    capacity: {
      cpuMilli: machine.cores * 1000,
      memoryBytes: machine.memoryBytes,
      ephemeralStorageBytes: machine.ephemeralStorageBytes ?? 0,
    },
    allocatable: {
      cpuMilli: parseCpuMilli(allocatable['cpu'] ?? '0'),
      memoryBytes: parseBytes(allocatable['memory'] ?? '0'),
      ephemeralStorageBytes: parseBytes(allocatable['ephemeral-storage'] ?? '0'),
    },
    ...containerBackOff(config, common.featureGates),
    cpuCFSQuota: config.cpuCFSQuota,
    cpuCFSQuotaPeriodUs: config.cpuCFSQuotaPeriod * 1000,
    podPidsLimit: config.podPidsLimit,
    seccompDefault: config.seccompDefault,
    runtimeRequestTimeoutMs: config.runtimeRequestTimeout,
    runtimeFeatures: { recursiveReadOnlyMounts: true, userNamespaces: true, supplementalGroupsPolicy: true },
    ...(common.featureGates.enabled('RestartAllContainersOnContainerExits') && { restartAllContainers: true }),
    cluster: true,
    behaviour: [...ALL_BEHAVIOUR],
  };
  const { featureGates, metrics, agent, log } = common;
  const topology = machineTopology(group.machine);
  return {
    ...{ config, rootDir, featureGates, settings, metrics, agent, log, flags },
    shards: 1,
    ...(topology !== null && {
      resources: resourceRulesOf(config, featureGates, topology, { facts: machine, shape }),
    }),
    journals: journalsOf(common, name),
    ownNode: unregisteredNode(shape, machine, true),
    containerGc: containerGcPolicy(flags),
    otherSources: ['api'],
  };
}

/** A node's share as an agent with one worker has it. All nodes are on one thread, which waits for its writes: they would only queue up. */
function journalsOf({ journals }: CommonGround, name: string): JournalShares | null {
  const dir = journals === null ? null : join(journals.dir, name);
  const shares = journalShares({ journalDir: dir, journalMaxBytes: journals?.maxBytes ?? 0, shards: 1 });
  return shares === null ? null : { ...shares, disk: gatheringDisk };
}
