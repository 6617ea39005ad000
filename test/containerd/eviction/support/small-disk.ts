import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stopOnSignal } from '../../../cluster/support/end-with-test.ts';

const run = promisify(execFile);

/** A disk (ext4 in a file, mounted by a loop device) that only its test fills. */
export interface SmallDisk {
  /** Where it is mounted; who maps users may go through it. */
  path: string;
  /** Unmounts and removes it. */
  remove(): Promise<void>;
}

/** Makes one of so many MiB and inodes. */
export async function smallDisk(size: { mebibytes: number; inodes: number }): Promise<SmallDisk> {
  const dir = await mkdtemp(join(tmpdir(), 'small-disk-'));
  const [image, path] = [join(dir, 'image'), join(dir, 'disk')];
  await mkdir(path);
  await run('truncate', ['-s', `${size.mebibytes}M`, image]);
  // Blocks that are kept for root would be free and not available.
  await run('mkfs.ext4', ['-q', '-m', '0', '-N', String(size.inodes), image], {
    env: { PATH: `/usr/sbin:/sbin:${process.env['PATH']}` },
  });
  await run('mount', ['-o', 'loop', image, path]);
  const remove = async (): Promise<void> => {
    forget();
    await run('umount', [path]);
    await rm(dir, { recursive: true, force: true });
  };
  // Whoever uses it is told of the signal, too: it goes when they let go of it.
  const forget = stopOnSignal(async () => {
    await run('umount', ['--lazy', path]).catch(() => undefined);
    await rm(dir, { recursive: true, force: true });
  });
  return { path, remove };
}
