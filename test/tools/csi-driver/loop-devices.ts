/** Loop devices of files, and the file systems on them: what makes disks of files. Root only. */
import { execFileSync, spawnSync } from 'node:child_process';

const DEFAULT_TYPE = 'ext4';

/** How a file system is mounted. */
export interface MountWish {
  /** `ext4` when it is empty; what its `mkfs` makes. */
  fsType: string;
  /** As `mount -o` has them. */
  options: readonly string[];
}

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' });

/** The file's loop device; it is made when there is none. */
export function deviceOf(file: string): string {
  // One that goes when its last user does is no device for the next one.
  const lasting = devices(file).find(({ leaves }) => !leaves);
  return lasting?.name ?? run('losetup', '-f', '--show', file).trim();
}

/** The file's loop devices go, those that somebody holds when he lets go of them. */
export function detach(file: string): void {
  for (const { name, leaves } of devices(file)) if (!leaves) spawnSync('losetup', ['-d', name]);
}

/** Mounts the file's file system, which is made when there is none. */
export function mountFileSystem(file: string, target: string, { fsType, options }: MountWish): void {
  const device = deviceOf(file);
  const type = fsType === '' ? DEFAULT_TYPE : fsType;
  const blank = spawnSync('blkid', ['-p', device]).status === 2;
  if (blank) run(`mkfs.${type}`, '-q', '-F', '-m0', '-E', 'nodiscard,lazy_journal_init=1', device);
  else run('resize2fs', '-f', device);
  run('mount', '-t', type, ...(options.length === 0 ? [] : ['-o', options.join()]), device, target);
}

/**
 * The file has grown: so does its device, and with `fileSystem` the file system that is mounted from it. Where root may not do that
 * (it takes CAP_SYS_RESOURCE), the file system grows when it is mounted the next time.
 */
export function grow(file: string, fileSystem: boolean): void {
  for (const { name } of devices(file)) {
    run('losetup', '-c', name);
    if (!fileSystem) continue;
    const { status, stderr } = spawnSync('resize2fs', [name], { encoding: 'utf8' });
    if (status !== 0 && !stderr.includes('Permission denied')) throw new Error(stderr.trim());
  }
}

function devices(file: string): { name: string; leaves: boolean }[] {
  const told = run('losetup', '-l', '-n', '-O', 'NAME,AUTOCLEAR', '-j', file);
  return told.split('\n').flatMap((line) => {
    const [name = '', autoclear] = line.trim().split(/\s+/);
    return name === '' ? [] : [{ name, leaves: autoclear === '1' }];
  });
}
