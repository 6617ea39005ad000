import type { MountEntry } from '../../host/files/mountinfo.ts';

/** Has each file of the file system where this path is a label of SELinux of its own (kubelet: GetSELinuxSupport)? One that is labelled as a whole has not. */
export function hasLabels(mounts: readonly MountEntry[], path: string): boolean {
  const its = mounts.findLast(({ mountPoint }) => mountPoint === '/' || `${path}/`.startsWith(`${mountPoint}/`));
  return its !== undefined && [...its.superOptions, ...its.options].includes('seclabel');
}

/** The label with which what is mounted at this path is mounted as a whole (kubelet: GetSELinuxMountContext); '' when with none. */
export function contextOf(mounts: readonly MountEntry[], path: string): string {
  const its = mounts.findLast(({ mountPoint }) => mountPoint === path);
  const [, quoted, plain] = /(?:^|,)context=(?:"([^"]*)"|([^,]*))/.exec(its?.superOptions.join(',') ?? '') ?? [];
  return quoted ?? plain ?? '';
}
