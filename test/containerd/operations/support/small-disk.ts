import { mkdtemp, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unmountBelow } from '../../../../cri/private-containerd/mount-points.ts';
import { runCommand } from '../../../../cri/private-containerd/run-command.ts';
import { waitFor } from '../../../tools/wait-for.ts';

/** A file system of some MiB (tmpfs) with a folder of its own, for tests of full and read-only disks. */
export class SmallDisk {
  /** Where it is mounted. */
  readonly path: string;
  private readonly parent: string;

  private constructor(parent: string) {
    this.parent = parent;
    this.path = join(parent, 'disk');
  }

  /** Mounts an empty one. The caller removes it, also after a failure. */
  static async make(megabytes: number): Promise<SmallDisk> {
    const disk = new SmallDisk(await mkdtemp(join(tmpdir(), 'small-disk-')));
    try {
      await run('mkdir', disk.path);
      await run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'small-disk', disk.path);
      return disk;
    } catch (error) {
      await disk.remove();
      throw error;
    }
  }

  /** Fills it with one file until not a byte is left. */
  async fill(): Promise<void> {
    const chunk = Buffer.alloc(4096, 'x');
    for (;;) {
      const { bavail, bsize } = await statfs(this.path);
      const bytes = Math.max(Number(bavail) * Number(bsize), chunk.length);
      try {
        await writeFile(this.ballast, Buffer.alloc(Math.min(bytes, 1 << 20), 'x'), { flag: 'a' });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        if ((await statfs(this.path)).bavail === 0) return;
      }
    }
  }

  /** Bytes that the ballast takes. */
  async filled(): Promise<number> {
    return (await stat(this.ballast)).size;
  }

  /** Makes room again. */
  async free(): Promise<void> {
    await rm(this.ballast, { force: true });
  }

  /** Remounts it read-only; waits for a moment at which nobody has a file of it open for writing, as mount(8) needs. */
  async setReadOnly(): Promise<void> {
    await waitFor('the remount to be read-only', async () => {
      await run('mount', '-o', 'remount,ro', this.path);
      return true;
    });
  }

  async setWritable(): Promise<void> {
    await run('mount', '-o', 'remount,rw', this.path);
  }

  /** Unmounts it with all that is mounted below it, and removes the folder. */
  async remove(): Promise<void> {
    const left = await unmountBelow(this.parent);
    if (left.length > 0) throw new Error(`still mounted: ${left.join(', ')}`);
    await rm(this.parent, { recursive: true, force: true });
  }

  private get ballast(): string {
    return join(this.path, 'ballast');
  }
}

async function run(command: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await runCommand(command, args);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr.trim()}`);
}
