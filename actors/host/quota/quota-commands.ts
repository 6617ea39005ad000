import { execFile } from 'node:child_process';
import { mkdtemp, realpath, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mountAt, mountsOnTheWay, readMounts } from '../files/mountinfo.ts';

/** What can be asked of the quotas of a file system. Each rejects when the kernel or the command does not answer. */
export interface QuotaCommands {
  /** The root of the file system that a folder is on, when it counts projects; null when it does not. */
  counting(folder: string): Promise<string | null>;
  /** Bytes and inodes of a project. */
  use(root: string, id: number): Promise<{ bytes: number; inodes: number }>;
  /** Makes a folder, with all that is in it, one of the project; `limited` false: without even a limit that nothing comes to. */
  give(root: string, folder: string, id: number, limited: boolean): Promise<void>;
  /** Takes the project's limit away. */
  clear(root: string, id: number): Promise<void>;
}

/** `f_type` of file systems with project quotas, and the largest limit of each (kubelet's linuxSupportedFilesystems). */
const FILE_SYSTEMS: Readonly<Record<number, bigint>> = {
  0x58465342: 2n ** 63n - 1n,
  0xef53: 2n ** 58n - 1n,
};
const TIMEOUT_MS = 60_000;
const run = promisify(execFile);

/**
 * By `xfs_quota`, as kubelet does, for ext4 too: quotactl(2) and the ioctl that gives a folder to a project have no call in Node, and
 * the command knows both, walks what is in the folder already, and is what kubelet's nodes have installed for it.
 */
export const quotaCommands: QuotaCommands = {
  async counting(folder) {
    // The command takes its words apart at white space.
    if (/\s/.test(folder)) return null;
    const mount = mountsOnTheWay(await readMounts(), await realpath(folder)).at(-1);
    if (mount === undefined || largest((await statfs(mount.mountPoint)).type) === undefined) return null;
    const state = await xfsQuota(mount.mountPoint, 'state -p').catch(() => '');
    return state.includes('Accounting: ON') ? mount.mountPoint : null;
  },
  async use(root, id) {
    const [blocks, inodes] = [await amount(root, '-b', id), await amount(root, '-i', id)];
    return { bytes: blocks * 1_024, inodes };
  },
  async give(root, folder, id, limited) {
    const most = limited ? (largest((await statfs(root)).type) ?? 0n) : 0n;
    await xfsQuota(root, `limit -p bhard=${most} bsoft=${most} ${id}`);
    await xfsQuota(root, `project -s -p ${folder} ${id}`);
  },
  async clear(root, id) {
    await xfsQuota(root, `limit -p bhard=0 bsoft=0 ${id}`);
  },
};

function largest(type: number): bigint | undefined {
  return FILE_SYSTEMS[type];
}

async function amount(root: string, what: '-b' | '-i', id: number): Promise<number> {
  return quotaAmount(await xfsQuota(root, `quota -p -N -n -v ${what} ${id}`));
}

/** The first number after the first word of `xfs_quota`'s answer; XFS says nothing of a project that has nothing. @throws Error when there is none */
export function quotaAmount(answer: string): number {
  // A long name has a line of its own.
  const words = answer.slice(0, 4_096).split(/\s/);
  const said = words.filter((word) => word !== '');
  if (said.length === 0) return 0;
  const number = /^\d+/.exec((words[0] === '' ? said[0] : said[1]) ?? '')?.[0];
  if (number === undefined) throw new Error(`unable to parse quota output '${answer.slice(0, 200)}'`);
  return Number(number);
}

/** Only this file system is named to it: it would look at all of them, and hang at one whose server is gone. */
async function xfsQuota(root: string, command: string): Promise<string> {
  const mount = mountAt(await readMounts(), root);
  if (mount === undefined) throw new Error(`cannot run xfs_quota: cannot find mount point ${root}`);
  const folder = await mkdtemp(join(tmpdir(), 'actorlet-mounts-'));
  try {
    const table = join(folder, 'mounts');
    const { source, fsType, options, superOptions } = mount;
    await writeFile(table, `${source} ${root} ${fsType} ${[...options, ...superOptions].join()} 0 0\n`);
    const args = ['-t', table, '-P/dev/null', '-D/dev/null', '-x', '-f', root, '-c', command];
    const { stdout } = await run('xfs_quota', args, {
      env: { ...process.env, LC_ALL: 'C', PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
      timeout: TIMEOUT_MS,
    });
    return stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
