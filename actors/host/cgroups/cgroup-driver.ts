import type { CgroupHost } from '../files/cgroup-host.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { detectCgroups } from './cgroup-detect.ts';
import type { CgroupDriver } from './driver.ts';
import { createCgroup, setCgroupLimits } from './cgroup-files.ts';
import { removeCgroupTree } from './cgroup-removal.ts';
import { SystemdBus } from './systemd-bus.ts';
import { systemdDriver } from './systemd-driver.ts';

/** What of {@link HostSettings} decides who makes cgroups, and where. */
export type CgroupSettings = Pick<HostSettings, 'cgroupDriver' | 'cgroups'>;

let detected: CgroupHost | undefined;
let systemd: SystemdBus | undefined;

/** The driver of the settings. systemd is asked over one connection of each thread, made when it is first needed. */
export function cgroupDriver(settings: CgroupSettings): CgroupDriver {
  const host = cgroupHost(settings);
  return settings.cgroupDriver === 'systemd' ? systemdDriver(host, (systemd ??= new SystemdBus())) : folderDriver(host);
}

/** The cgroup mounts of the settings, or those of the machine (looked up once in each thread). */
export function cgroupHost(settings: CgroupSettings): CgroupHost {
  return settings.cgroups ?? (detected ??= detectCgroups());
}

/** cgroupfs: folders that the agent makes itself. */
function folderDriver(host: CgroupHost): CgroupDriver {
  return {
    create: (path) => createCgroup(host, path),
    set: (path, limits) => setCgroupLimits(host, path, limits),
    remove: (path) => removeCgroupTree(host, path),
  };
}
