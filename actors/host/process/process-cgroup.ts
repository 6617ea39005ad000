import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openUnifiedRoot } from '../cgroups/cgroup-detect.ts';
import { cgroupDirs, createCgroup } from '../cgroups/cgroup-files.ts';
import type { CgroupHost } from '../files/cgroup-host.ts';

/** Where the kernel shows processes and cgroups; other folders in tests. */
export interface KernelFiles {
  proc: string;
  cgroup: string;
}

/** The real ones. */
export const KERNEL_FILES: KernelFiles = { proc: '/proc', cgroup: '/sys/fs/cgroup' };

/** Is the process in the first PID namespace it can see? Inside a container kubelet leaves its own cgroup alone. */
export function runsInHost(pid: number, files: KernelFiles = KERNEL_FILES): boolean {
  return readlinkSync(join(files.proc, String(pid), 'ns/pid')) === readlinkSync(join(files.proc, '1/ns/pid'));
}

/**
 * Moves a process with all its threads into a cgroup, which is made when it is missing, as those of pods are. Cgroup v1: in every
 * hierarchy that the process is in. Rejects with the error of the file that could not be written.
 */
export async function moveToCgroup(
  pid: number,
  path: string,
  version: 1 | 2,
  files: KernelFiles = KERNEL_FILES,
): Promise<void> {
  const host = version === 2 ? openUnifiedRoot(files.cgroup) : hierarchiesOf(pid, files);
  await createCgroup(host, path);
  for (const folder of cgroupDirs(host, path)) await writeFile(join(folder, 'cgroup.procs'), String(pid));
}

/** The v1 hierarchies that a process is in, from lines such as `4:cpu,cpuacct:/` and `1:name=systemd:/`: not those alone that pods need. */
function hierarchiesOf(pid: number, files: KernelFiles): CgroupHost {
  const mounts: CgroupHost['mounts'] = {};
  const lines = readFileSync(join(files.proc, String(pid), 'cgroup'), 'utf8')
    .trim()
    .split('\n');
  for (const line of lines) {
    const together = line.split(':')[1]?.replace(/^name=/, '') ?? '';
    if (together === '') continue;
    const controllers = together.split(',');
    const folder = [together, ...controllers].map((name) => join(files.cgroup, name)).find((each) => existsSync(each));
    if (folder !== undefined) for (const name of controllers) mounts[name] = folder;
  }
  return { version: 1, controllers: Object.keys(mounts), mounts };
}
