import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './run-command.ts';

/** What the machine can do, as far as containerd's configuration depends on it. */
export interface HostFacts {
  /** CAP_SYS_RESOURCE: without it `oom_score_adj` cannot go down. */
  canLowerOomScore: boolean;
  appArmor: boolean;
  snapshotter: 'overlayfs' | 'native';
}

const CAP_SYS_RESOURCE = 24n;

/** Looks at the machine; `dir` is where images will be kept (overlay may work on one file system and not on another). */
export async function hostFacts(dir: string): Promise<HostFacts> {
  const [canLowerOomScore, appArmor, overlay] = await Promise.all([hasSysResource(), hasAppArmor(), overlayWorks(dir)]);
  return { canLowerOomScore, appArmor, snapshotter: overlay ? 'overlayfs' : 'native' };
}

/** True when the effective capabilities in `/proc/self/status` hold CAP_SYS_RESOURCE. */
export async function hasSysResource(statusFile = '/proc/self/status'): Promise<boolean> {
  const hex = /^CapEff:\s*([0-9a-f]+)/m.exec(await readFile(statusFile, 'utf8'))?.[1];
  return hex !== undefined && ((BigInt(`0x${hex}`) >> CAP_SYS_RESOURCE) & 1n) === 1n;
}

async function hasAppArmor(): Promise<boolean> {
  try {
    return (await readFile('/sys/module/apparmor/parameters/enabled', 'utf8')).startsWith('Y');
  } catch {
    return false;
  }
}

/** Tries a real overlay mount below `dir`, as only that tells (nested overlay, old kernels and user namespaces refuse). */
export async function overlayWorks(dir: string): Promise<boolean> {
  await mkdir(dir, { recursive: true });
  const probe = await mkdtemp(join(dir, 'overlay-'));
  const at = (name: string) => join(probe, name);
  try {
    await Promise.all(['lower', 'upper', 'work', 'merged'].map((name) => mkdir(at(name))));
    const options = `lowerdir=${at('lower')},upperdir=${at('upper')},workdir=${at('work')}`;
    const mounted = await runCommand('mount', ['-t', 'overlay', 'overlay', '-o', options, at('merged')]);
    if (mounted.code !== 0) return false;
    await runCommand('umount', [at('merged')]);
    return true;
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}
