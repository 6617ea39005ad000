import type { Logger } from 'pino';
import { configErrors } from '../../machines/errors/config-errors.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { machineCapacity, overReserved } from '../../machines/node-object/node-resources.ts';
import { sliceOfPath } from '../../machines/cgroups/slice-names.ts';
import type { NodeSettings } from '../../machines/protocol/node-settings.ts';
import { kubepodsLimits, reservedLimits, unboundedHugePages } from '../../machines/qos/node-limits.ts';
import { cgroupPath, qosCgroups } from '../../machines/qos/pod-cgroup.ts';
import { nodeObjectConfigOf } from '../cluster/node-object/node-object-config.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../configure/configuration/kubelet-flags.ts';
import { cgroupDriver, cgroupHost } from '../host/cgroups/cgroup-driver.ts';
import { NodeCgroups } from '../host/cgroups/node-cgroups.ts';
import type { ReservedCgroup } from '../host/cgroups/node-cgroups.ts';
import type { HostSettings } from '../host/files/host-settings.ts';
import { readMachineFacts } from '../resources/machine/machine-facts.ts';
import { readText } from '../resources/machine/node-facts.ts';

/** The node's own cgroups by configuration and machine; null where cgroups per QoS are switched off. */
export function nodeCgroupsOf(
  config: KubeletConfiguration,
  flags: KubeletFlags,
  settings: NodeSettings,
  host: HostSettings,
  log: Logger,
): NodeCgroups | null {
  const qos = qosCgroups(settings);
  if (qos === null) return null;
  const sizes = settings.hugePageSizes ?? [];
  const capacity = machineCapacity(
    readMachineFacts(flags.rootDir),
    nodeObjectConfigOf(settings.nodeName, config, flags),
  );
  const limits = kubepodsLimits({ ...capacity, ...taskCapacity() }, config, sizes);
  const cpus = settings.cgroupDriver === 'systemd' ? allCpus(cgroupHost(host).mounts['']) : '';
  return new NodeCgroups({
    ...{ driver: cgroupDriver(host), host: cgroupHost(host), qos, log },
    // systemd is told, or it takes the cpuset controller away, which none of its units asks for (kubelet's getCgroupConfig).
    limits: { ...limits, ...(cpus !== '' && { cpus }) },
    tier: unboundedHugePages(sizes),
    reserved: reservedCgroups(config, settings, sizes),
  });
}

/** Throws CFG041 when more is reserved than the machine has (validateNodeAllocatable). */
export function checkReserved(config: KubeletConfiguration, flags: KubeletFlags, nodeName: string): void {
  const shape = nodeObjectConfigOf(nodeName, config, flags);
  const problems = overReserved(machineCapacity(readMachineFacts(flags.rootDir), shape), shape);
  if (problems.length > 0) throw new ActorletError(configErrors.reservedTooMuch, { problem: problems.join(' ') });
}

/** Those that `enforceNodeAllocatable` names, in kubelet's order. */
function reservedCgroups(
  config: KubeletConfiguration,
  { cgroupDriver: driver, memoryQoS }: NodeSettings,
  sizes: readonly string[],
): ReservedCgroup[] {
  const { systemReserved, systemReservedCgroup, kubeReserved, kubeReservedCgroup } = config;
  return [false, true].flatMap((compressible) =>
    [
      { what: 'system reserved', key: 'system-reserved', name: systemReservedCgroup, reserved: systemReserved },
      { what: 'kube reserved', key: 'kube-reserved', name: kubeReservedCgroup, reserved: kubeReserved },
    ]
      .filter(({ key }) => config.enforceNodeAllocatable.includes(compressible ? `${key}-compressible` : key))
      .map(({ what, name, reserved }) => ({
        ...{ what, name, path: reservedPath(name, driver), compressible },
        limits: reservedLimits(reserved, sizes, { compressible, kept: memoryQoS !== undefined }),
      })),
  );
}

/** `/system.slice` and `/system` are the same to systemd, as with kubelet: the last part counts, and tells what is above it. */
function reservedPath(name: string, driver: NodeSettings['cgroupDriver']): string {
  if (driver === 'cgroupfs') return name;
  return cgroupPath(
    sliceOfPath(name)
      .replace(/\.slice$/, '')
      .split('-'),
    driver,
  );
}

/** How many tasks the kernel can have, as kubelet's `pid` resource. */
function taskCapacity(): { pid?: string } {
  const limits = ['/proc/sys/kernel/pid_max', '/proc/sys/kernel/threads-max']
    .map((file) => readText(file).trim())
    .filter((text) => /^\d+$/.test(text))
    .map(Number);
  return limits.length === 0 ? {} : { pid: String(Math.min(...limits)) };
}

/** All processors, as the kernel lists them; '' where there is no cgroup v2. */
function allCpus(unified: string | undefined): string {
  return unified === undefined ? '' : readText(`${unified}/cpuset.cpus.effective`).trim();
}
