/** The volumes of a CSI driver of a test: folders, or files for raw block volumes, with what is known of each beside it. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  rmdirSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** A volume as it stands in its file. */
export interface StoredVolume {
  id: string;
  name: string;
  bytes: number;
  block: boolean;
}

/** How a volume comes to its path: a bind mount (root), or a folder of its own with the volume's id in it. */
export type Showing = 'bind' | 'plain';

/** File in a folder that stands for a mount. */
export const PLAIN_MARK = 'volume-id';

/** Folder of volumes. */
export class VolumeStore {
  private readonly dir: string;
  private readonly showing: Showing;

  constructor(dir: string, showing: Showing) {
    this.dir = dir;
    this.showing = showing;
    mkdirSync(dir, { recursive: true });
  }

  list(): StoredVolume[] {
    return readdirSync(this.dir)
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => JSON.parse(readFileSync(join(this.dir, name), 'utf8')) as StoredVolume);
  }

  get(id: string): StoredVolume | undefined {
    const file = this.factsOf(id);
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as StoredVolume) : undefined;
  }

  put(volume: StoredVolume): void {
    if (volume.block) {
      if (!existsSync(this.dataOf(volume.id))) writeFileSync(this.dataOf(volume.id), '');
      truncateSync(this.dataOf(volume.id), volume.bytes);
    } else mkdirSync(this.dataOf(volume.id), { recursive: true });
    writeFileSync(this.factsOf(volume.id), JSON.stringify(volume));
  }

  remove(id: string): void {
    rmSync(this.factsOf(id), { force: true });
    rmSync(this.dataOf(id), { recursive: true, force: true });
  }

  /** What is in the volume: a folder, or a file of its size. */
  dataOf(id: string): string {
    return join(this.dir, `${encodeURIComponent(id)}.data`);
  }

  private factsOf(id: string): string {
    return join(this.dir, `${encodeURIComponent(id)}.json`);
  }

  /** Shows `source` (a volume's data, or where it is staged) at `target`. Twice is once. */
  show(id: string, source: string, target: string, block: boolean, readOnly = false): void {
    if (this.isShown(target)) return;
    mkdirSync(block ? dirname(target) : target, { recursive: true });
    if (this.showing === 'plain') {
      writeFileSync(block ? target : join(target, PLAIN_MARK), id);
      return;
    }
    if (block) writeFileSync(target, '');
    execFileSync('mount', ['--bind', block ? this.loopOf(id) : source, target]);
    if (readOnly) execFileSync('mount', ['-o', 'remount,bind,ro', target]);
  }

  /** The loop device of a block volume; it is made when there is none. */
  private loopOf(id: string): string {
    const [there] = this.loops(id);
    return there ?? execFileSync('losetup', ['-f', '--show', this.dataOf(id)], { encoding: 'utf8' }).trim();
  }

  private loops(id: string): string[] {
    const told = execFileSync('losetup', ['-j', this.dataOf(id)], { encoding: 'utf8' });
    return told.split('\n').flatMap((line) => (line === '' ? [] : line.slice(0, line.indexOf(':'))));
  }

  /** Nobody has the volume any more: its loop device goes. */
  release(id: string): void {
    if (this.showing === 'bind' && this.get(id)?.block === true)
      for (const loop of this.loops(id)) execFileSync('losetup', ['-d', loop]);
  }

  /** Takes it away again, with the path. What is not there is no matter. */
  hide(target: string): void {
    if (this.showing === 'plain') {
      rmSync(existsSync(join(target, PLAIN_MARK)) ? join(target, PLAIN_MARK) : '/nonexistent', { force: true });
    } else while (this.isShown(target)) execFileSync('umount', [target]);
    if (!existsSync(target)) return;
    try {
      rmdirSync(target);
    } catch {
      rmSync(target, { force: true });
    }
  }

  isShown(target: string): boolean {
    if (this.showing === 'plain') return existsSync(join(target, PLAIN_MARK));
    return readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .some((line) => line.split(' ')[4] === target);
  }

  /** Bytes and inodes of the file system that it is on. */
  usage(id: string): { total: number; free: number; inodes: number; inodesFree: number } {
    const { bsize, bfree, files, ffree } = statfsSync(this.dir);
    return { total: this.get(id)?.bytes ?? 0, free: bsize * bfree, inodes: files, inodesFree: ffree };
  }
}
