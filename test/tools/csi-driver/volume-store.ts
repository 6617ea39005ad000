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
import { detach, deviceOf, grow, mountFileSystem } from './loop-devices.ts';
import type { MountWish } from './loop-devices.ts';

/** A volume as it stands in its file. */
export interface StoredVolume {
  id: string;
  name: string;
  bytes: number;
  block: boolean;
  /** It goes with the pod that it was made for. */
  inline?: true;
}

/**
 * How a volume comes to its path: a bind mount of its folder, or of a file system on a disk of its size (root both), or a folder
 * of its own with the volume's id in it.
 */
export type Showing = 'bind' | 'disk' | 'plain';

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
    if (this.isFile(volume)) {
      if (!existsSync(this.dataOf(volume.id))) writeFileSync(this.dataOf(volume.id), '');
      truncateSync(this.dataOf(volume.id), volume.bytes);
    } else mkdirSync(this.dataOf(volume.id), { recursive: true });
    writeFileSync(this.factsOf(volume.id), JSON.stringify(volume));
  }

  remove(id: string): void {
    rmSync(this.factsOf(id), { force: true });
    rmSync(this.dataOf(id), { recursive: true, force: true });
  }

  /** A volume that is still to be put begins with what is in another one. */
  copy(from: string, to: StoredVolume): void {
    execFileSync('cp', ['-a', '--sparse=always', this.dataOf(from), this.dataOf(to.id)]);
  }

  /** What is in the volume: a folder, or a file of its size. */
  dataOf(id: string): string {
    return join(this.dir, `${encodeURIComponent(id)}.data`);
  }

  private factsOf(id: string): string {
    return join(this.dir, `${encodeURIComponent(id)}.json`);
  }

  private isFile({ block }: StoredVolume): boolean {
    return block || this.showing === 'disk';
  }

  /** Shows a volume that is not a block volume at `target`, from where it is shown to pods. Twice is once. */
  stage(id: string, target: string, wish: MountWish): void {
    if (this.showing !== 'disk') return this.show(id, this.dataOf(id), target, false);
    if (this.isShown(target)) return;
    mkdirSync(target, { recursive: true });
    mountFileSystem(this.dataOf(id), target, wish);
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
    execFileSync('mount', ['--bind', block ? deviceOf(this.dataOf(id)) : source, target]);
    if (readOnly) execFileSync('mount', ['-o', 'remount,bind,ro', target]);
  }

  /** Nobody has the volume any more: its loop device goes. */
  release(id: string): void {
    const volume = this.get(id);
    if (this.showing !== 'plain' && volume !== undefined && this.isFile(volume)) detach(this.dataOf(id));
  }

  /** The volume has its new size for those who have it. */
  grow(id: string): void {
    const volume = this.get(id);
    if (this.showing === 'disk' && volume !== undefined) grow(this.dataOf(id), !volume.block);
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

  /** Bytes and inodes: of its own file system at `path`, or of the one that its folder is on. */
  usage(id: string, path: string): { total: number; used: number; inodes: number; inodesFree: number } {
    const { block, bytes } = this.get(id) ?? { block: false, bytes: 0 };
    const own = this.showing === 'disk' && !block;
    const { bsize, blocks, bfree, files, ffree } = statfsSync(own ? path : this.dir);
    const size = own ? { total: bsize * blocks, used: bsize * (blocks - bfree) } : { total: bytes, used: 4096 };
    return { ...size, inodes: files, inodesFree: ffree };
  }

  /** Bytes that new volumes could have. */
  capacity(): number {
    const { bsize, bavail } = statfsSync(this.dir);
    return bsize * bavail;
  }
}
