import { statfsSync } from 'node:fs';

/** Magic number of a cgroup2 file system (CGROUP2_SUPER_MAGIC). */
const CGROUP2 = 0x63677270;

/** 2 when the folder is a unified hierarchy, else 1 (libcontainer's IsCgroup2UnifiedMode). */
export function cgroupVersionOf(directory = '/sys/fs/cgroup'): 1 | 2 {
  try {
    return statfsSync(directory).type === CGROUP2 ? 2 : 1;
  } catch {
    return 1;
  }
}
