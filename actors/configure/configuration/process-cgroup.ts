import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

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
 * Moves a process with all its threads into a cgroup, which is made when it is missing. Cgroup v1: in every
 * hierarchy that the process is in. Throws the errno error of the file that could not be written.
 */
export function moveToCgroup(pid: number, path: string, version: 1 | 2, files: KernelFiles = KERNEL_FILES): void {
  for (const hierarchy of version === 2 ? [files.cgroup] : hierarchies(pid, files)) {
    const folder = join(hierarchy, path);
    if (version === 2) handDown(hierarchy, path);
    mkdirSync(folder, { recursive: true });
    copyCpuset(hierarchy, folder);
    writeFileSync(join(folder, 'cgroup.procs'), String(pid));
  }
}

/** On v2 a cgroup has the controllers that each one above it hands down: all that there are, as runc does it. */
function handDown(hierarchy: string, path: string): void {
  const file = join(hierarchy, 'cgroup.controllers');
  const controllers = existsSync(file) ? readFileSync(file, 'utf8').trim().split(/\s+/) : [];
  let above = hierarchy;
  for (const part of path.split('/').filter(Boolean)) {
    mkdirSync(above, { recursive: true });
    for (const name of controllers) {
      try {
        writeFileSync(join(above, 'cgroup.subtree_control'), `+${name}`);
      } catch {
        // One that is not offered here, or a cgroup with processes of its own: what is below does without.
      }
    }
    above = join(above, part);
  }
}

/** Mount folders of the v1 hierarchies, from lines such as `4:cpu,cpuacct:/` and `1:name=systemd:/`. */
function hierarchies(pid: number, files: KernelFiles): string[] {
  const lines = readFileSync(join(files.proc, String(pid), 'cgroup'), 'utf8')
    .trim()
    .split('\n');
  return lines.flatMap((line) => {
    const controllers = line.split(':')[1]?.replace(/^name=/, '') ?? '';
    if (controllers === '') return [];
    const names = [controllers, ...controllers.split(',')].map((name) => join(files.cgroup, name));
    return names.find((folder) => existsSync(folder)) ?? [];
  });
}

/** A new v1 cpuset takes no process before it has CPUs and memory nodes: they are those of its parent. */
function copyCpuset(hierarchy: string, folder: string): void {
  if (folder === hierarchy || !existsSync(join(folder, 'cpuset.mems'))) return;
  if (basename(hierarchy) !== 'cpuset' && !basename(hierarchy).includes('cpuset')) return;
  copyCpuset(hierarchy, dirname(folder));
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    if (readFileSync(join(folder, file), 'utf8').trim() === '') {
      writeFileSync(join(folder, file), readFileSync(join(dirname(folder), file), 'utf8').trim());
    }
  }
}
