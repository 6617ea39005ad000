import { parentSlice, sliceOfPath } from '../../../machines/cgroups/slice-names.ts';
import { limitProperties, roundedLimits, sliceProperties } from '../../../machines/cgroups/unit-properties.ts';
import type { CgroupHost } from '../files/cgroup-host.ts';
import type { CgroupDriver } from './driver.ts';
import { createCgroup, setCgroupLimits } from './cgroup-files.ts';
import { killCgroup, removeCgroupTree } from './cgroup-removal.ts';
import type { SystemdBus } from './systemd-bus.ts';

/**
 * Cgroups as slices of systemd, as libcontainer has them: systemd makes and removes them and is told of each limit that it knows, since it
 * writes what it knows whenever it likes; then all limits are written to the files, those that it does not know among them.
 */
export function systemdDriver(
  host: CgroupHost,
  systemd: Pick<SystemdBus, 'startTransientUnit' | 'setUnitProperties' | 'stopUnit'>,
): CgroupDriver {
  return {
    async create(path) {
      const slice = sliceOfPath(path);
      await systemd.startTransientUnit(slice, sliceProperties(slice, parentSlice(slice), host.version));
      // systemd switches on the controllers that its units ask for, not all of them (hugetlb is none that it knows).
      await createCgroup(host, path);
    },
    async set(path, limits) {
      await systemd.setUnitProperties(sliceOfPath(path), limitProperties(limits, host.version));
      await setCgroupLimits(host, path, roundedLimits(limits));
    },
    async remove(path) {
      await killCgroup(host, path);
      await systemd.stopUnit(sliceOfPath(path));
      // Cgroups below that are no units of systemd keep the folder.
      await removeCgroupTree(host, path);
    },
  };
}
