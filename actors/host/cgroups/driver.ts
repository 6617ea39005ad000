import type { CgroupLimits } from '../../../machines/cgroups/cgroup-limits.ts';

/** Who makes, changes and removes cgroups; all paths as the driver names them. */
export interface CgroupDriver {
  /** Makes a cgroup with all above it; what exists stays as it is. */
  create(path: string): Promise<void>;
  set(path: string, limits: CgroupLimits): Promise<void>;
  /** Kills what is left in a cgroup and removes it with all below it. One that is not there is fine. */
  remove(path: string): Promise<void>;
}
