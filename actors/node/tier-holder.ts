import { machineCapacity } from '../../machines/node-object/node-resources.ts';
import { unreservedMemory } from '../../machines/qos/node-limits.ts';
import { qosCgroups } from '../../machines/qos/pod-cgroup.ts';
import { percentOf, tierMemory } from '../../machines/qos/tier-memory.ts';
import { nodeObjectConfigOf } from '../cluster/node-object/node-object-config.ts';
import type { KubeletFlags } from '../configure/configuration/kubelet-flags.ts';
import { cgroupDriver, cgroupHost } from '../host/cgroups/cgroup-driver.ts';
import { TierMemoryLimits } from '../host/cgroups/tier-memory-limits.ts';
import type { HostSettings } from '../host/files/host-settings.ts';
import { machineClock } from '../host/time/clock.ts';
import { readMachineFacts } from '../resources/machine/machine-facts.ts';
import type { HostLinks } from './edges.ts';
import type { NodeGround } from './node-ground.ts';

/** Holds the memory of each class of pods to what `qosReserved` leaves it; null when nothing is to be held (gate QOSReserved). */
export function tierHolder(
  { config, featureGates, settings, log }: NodeGround,
  flags: KubeletFlags,
  host: HostSettings,
  requests: HostLinks['memoryMin'],
): (() => Promise<void>) | null {
  const qos = qosCgroups(settings);
  const percent = percentOf(config.qosReserved['memory'] ?? '');
  if (qos === null || percent === null || !featureGates.enabled('QOSReserved')) return null;
  const shape = nodeObjectConfigOf(settings.nodeName, config, flags);
  const unreserved = unreservedMemory(machineCapacity(readMachineFacts(flags.rootDir), shape), config);
  const limits = new TierMemoryLimits({
    ...{ driver: cgroupDriver(host), host: cgroupHost(host), qos, log, steady: machineClock.steady },
  });
  return () => limits.hold(tierMemory(unreserved, requests(), percent));
}
