import { errno } from './disk.ts';
import { mountAt, mountsOf } from './host-mountinfo.ts';
import type { MountEntry } from './host-mountinfo.ts';
import { onDisk } from './current-disk.ts';

/** `actors/host/files/mounts.ts` over the simulated machine, for what makes volumes of claims: the loader maps that module to this one for it. */

/** As the agent's: there are no links on the way. */
export function canonical(path: string): Promise<string> {
  return Promise.resolve(path);
}

/** As the agent's. */
export async function mountOn(path: string): Promise<MountEntry | undefined> {
  return onDisk((disk) => mountAt(mountsOf(disk), path));
}

/** As the agent's. */
export async function mount(source: string, target: string): Promise<void> {
  await onDisk((disk) => {
    disk.at(target, 'mount');
    disk.mounts.set(target, source);
  });
}

/** As the agent's. */
export async function unmount(...targets: string[]): Promise<void> {
  await onDisk((disk) => {
    for (const target of targets) if (!disk.mounts.delete(target)) throw errno('EINVAL', 'umount', target);
  });
}

/** No command of the system is run here. */
export async function runCommand(command: string): Promise<void> {
  return Promise.reject(new Error(`${command}: not simulated`));
}
