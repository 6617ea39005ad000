import {
  appendFileSync,
  chmodSync,
  chownSync,
  lstatSync,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { Stats } from 'node:fs';
import { basename, dirname, join, posix, sep } from 'node:path';
import type { Mount } from '../../generated/runtime/v1/api.ts';

const SETGID = 0o2000;
const OWN_MODE = 0o644;

/** Whose process it is. */
export interface ProcessUser {
  uid: number;
  gid: number;
  /** Further groups. */
  groups: readonly number[];
}

/** What the process of a container gets to see when it asks for a file: a message as C's library spells it. */
export class FileProblem extends Error {}

/** A problem as the shell's tools say it. */
export function sentence(problem: string): string {
  return problem.charAt(0).toUpperCase() + problem.slice(1);
}

/**
 * A simulated container's file system: its mounts are the node's real files, all else is kept in memory. No symbolic link
 * leads out of a mount.
 */
export class ContainerFiles {
  readonly #mounts: readonly Mount[];
  readonly #readOnlyRoot: boolean;
  readonly #user: ProcessUser;
  readonly #own = new Map<string, string>();

  constructor(mounts: readonly Mount[], readOnlyRoot: boolean, user: ProcessUser) {
    this.#mounts = mounts;
    this.#readOnlyRoot = readOnlyRoot;
    this.#user = user;
  }

  /** The file's bytes. Throws FileProblem. */
  read(path: string): Buffer {
    const place = this.#place(path);
    if (typeof place === 'string') {
      const text = this.#own.get(place);
      if (text === undefined) throw new FileProblem('no such file or directory');
      return Buffer.from(text);
    }
    return asked(() => {
      const file = place.existing();
      const stats = statSync(file);
      if (stats.isDirectory()) throw new FileProblem('is a directory');
      if (!this.#may(stats, 4)) throw new FileProblem('permission denied');
      return readFileSync(file);
    });
  }

  /** Writes the file; `mode` is that of a new one. Throws FileProblem. */
  write(
    path: string,
    text: string,
    { append = false, mode = OWN_MODE }: { append?: boolean; mode?: number } = {},
  ): void {
    if (path === '/dev/null') return;
    const place = this.#place(path);
    if (typeof place === 'string') {
      if (this.#readOnlyRoot) throw new FileProblem('read-only file system');
      this.#own.set(place, append ? (this.#own.get(place) ?? '') + text : text);
      return;
    }
    if (place.mount.readonly) throw new FileProblem('read-only file system');
    asked(() => {
      const file = place.toBe();
      const old = lstatSync(file, { throwIfNoEntry: false });
      const folder = statSync(dirname(file));
      if (old === undefined ? !this.#may(folder, 2) : !this.#may(old, 2)) throw new FileProblem('permission denied');
      if (append) appendFileSync(file, text);
      else writeFileSync(file, text);
      if (old !== undefined) return;
      chmodSync(file, mode);
      chownSync(file, this.#user.uid, (folder.mode & SETGID) === 0 ? this.#user.gid : folder.gid);
    });
  }

  /** Removes a file; true when there was one. Throws FileProblem. */
  remove(path: string): boolean {
    const place = this.#place(path);
    if (typeof place === 'string') return this.#own.delete(place);
    if (place.mount.readonly) throw new FileProblem('read-only file system');
    return asked(() => {
      const file = place.toBe();
      const there = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
      rmSync(file, { force: true });
      return there;
    });
  }

  /** What stat(2) says of a file on a mount; of a file in memory null. Throws FileProblem. */
  stat(path: string): Stats | null {
    const place = this.#place(path);
    if (typeof place !== 'string') return asked(() => statSync(place.existing()));
    if (this.#own.has(place)) return null;
    throw new FileProblem('no such file or directory');
  }

  /** statfs(2)'s type of a place on a mount; of the rest 0. Throws FileProblem. */
  fileSystemType(path: string): number {
    const place = this.#place(path);
    return typeof place === 'string' ? 0 : asked(() => statfsSync(place.existing()).type);
  }

  /** The path itself when it is not below a mount; a relative one is one of the root. */
  #place(path: string): string | MountedPlace {
    const full = posix.resolve('/', path);
    let found: Mount | undefined;
    for (const mount of this.#mounts) {
      const at = posix.resolve('/', mount.containerPath);
      const below = full === at || full.startsWith(at === '/' ? at : `${at}/`);
      if (below && mount.containerPath.length >= (found?.containerPath.length ?? 0)) found = mount;
    }
    if (found === undefined || found.hostPath === '') return full;
    return new MountedPlace(found, posix.relative(posix.resolve('/', found.containerPath), full));
  }

  #may(stats: Stats, bit: 2 | 4): boolean {
    const { uid, gid, groups } = this.#user;
    if (uid === 0) return true;
    const shift = stats.uid === uid ? 6 : stats.gid === gid || groups.includes(stats.gid) ? 3 : 0;
    return ((stats.mode >> shift) & bit) !== 0;
  }
}

/** A place below a mount, on the node. */
class MountedPlace {
  readonly mount: Mount;
  readonly #rest: string;

  constructor(mount: Mount, rest: string) {
    this.mount = mount;
    this.#rest = rest;
  }

  /** The file with its links followed, which must stay in the mount. */
  existing(): string {
    return this.#within(realpathSync(join(this.mount.hostPath, this.#rest)));
  }

  /** The file that is written: its folder's links followed, itself no link. */
  toBe(): string {
    const path = join(this.mount.hostPath, this.#rest);
    if (this.#rest === '') return this.existing();
    const file = this.#within(join(realpathSync(dirname(path)), basename(path)));
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw new FileProblem('permission denied');
    return file;
  }

  #within(path: string): string {
    const root = realpathSync(this.mount.hostPath);
    if (path !== root && !path.startsWith(root === sep ? sep : root + sep)) {
      throw new FileProblem('no such file or directory');
    }
    return path;
  }
}

const MESSAGES: Record<string, string> = {
  ENOENT: 'no such file or directory',
  ENOTDIR: 'not a directory',
  EISDIR: 'is a directory',
  EACCES: 'permission denied',
  EROFS: 'read-only file system',
};

/** What Node throws, as FileProblem. */
function asked<T>(ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    if (error instanceof FileProblem) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw new FileProblem(MESSAGES[code] ?? 'input/output error');
  }
}
