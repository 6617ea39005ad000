/** What lies at a path: a folder, a file with its text, or a link. */
export type DiskEntry = { is: 'folder' } | { is: 'file'; text: string } | { is: 'link'; to: string };

/** The files of plugins and pods on the simulated machine, with what is mounted on them. Files outlive the machine's going down, mounts do not. */
export class Disk {
  readonly entries = new Map<string, DiskEntry>();
  /** What is mounted at a path. */
  readonly mounts = new Map<string, string>();

  /** All that is mounted is gone. */
  reboot(): void {
    this.mounts.clear();
  }

  /** @throws errno ENOENT */
  at(path: string, call: string): DiskEntry {
    const found = this.entries.get(path);
    if (found === undefined) throw errno('ENOENT', call, path);
    return found;
  }

  /** Answers the first folder that was made; undefined when all were there. @throws errno ENOTDIR */
  mkdir(path: string): string | undefined {
    let first: string | undefined;
    const parts = path.split('/').filter((part) => part !== '');
    for (let i = 1; i <= parts.length; i++) {
      const folder = `/${parts.slice(0, i).join('/')}`;
      const found = this.entries.get(folder);
      if (found === undefined) {
        this.entries.set(folder, { is: 'folder' });
        first ??= folder;
      } else if (found.is !== 'folder') throw errno('ENOTDIR', 'mkdir', folder);
    }
    return first;
  }

  /** @throws errno ENOENT without its folder */
  write(path: string, text: string): void {
    this.at(path.slice(0, path.lastIndexOf('/')), 'open');
    this.entries.set(path, { is: 'file', text });
  }

  /** @throws errno ENOENT, ENOTDIR */
  names(folder: string): string[] {
    if (this.at(folder, 'scandir').is !== 'folder') throw errno('ENOTDIR', 'scandir', folder);
    const start = `${folder}/`;
    return [...this.entries.keys()]
      .filter((path) => path.startsWith(start) && !path.slice(start.length).includes('/'))
      .map((path) => path.slice(start.length))
      .sort();
  }

  /** @throws errno as rmdir(2) */
  rmdir(path: string): void {
    if (this.at(path, 'rmdir').is !== 'folder') throw errno('ENOTDIR', 'rmdir', path);
    if (this.mounts.has(path)) throw errno('EBUSY', 'rmdir', path);
    if (this.names(path).length > 0) throw errno('ENOTEMPTY', 'rmdir', path);
    this.entries.delete(path);
  }

  /** @throws errno as unlink(2) */
  unlink(path: string): void {
    if (this.at(path, 'unlink').is === 'folder') throw errno('EISDIR', 'unlink', path);
    if (this.mounts.has(path)) throw errno('EBUSY', 'unlink', path);
    this.entries.delete(path);
  }

  /** `rm -rf`. @throws errno EBUSY */
  remove(path: string): void {
    const inside = [...this.entries.keys()].filter((each) => each === path || each.startsWith(`${path}/`));
    for (const each of inside) if (this.mounts.has(each)) throw errno('EBUSY', 'rm', each);
    for (const each of inside) this.entries.delete(each);
  }
}

/** An error as Node's file calls throw it. */
export function errno(code: string, call: string, path: string): Error & { code: string } {
  return Object.assign(new Error(`${code}: simulated, ${call} '${path}'`), { code, syscall: call, path });
}
