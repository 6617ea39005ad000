import { readFile } from 'node:fs/promises';

/** One line of `/proc/self/mountinfo` (proc_pid_mountinfo(5)). */
export interface MountEntry {
  id: number;
  parentId: number;
  /** `major:minor` of the file system. */
  device: string;
  /** The part of the file system that is mounted, e.g. `/` or a bind mount's folder. */
  root: string;
  mountPoint: string;
  options: string[];
  fsType: string;
  source: string;
  superOptions: string[];
  /** The mount has a peer group: what is mounted below it appears in its peers as well. */
  shared: boolean;
}

/** Parses the text of `/proc/<pid>/mountinfo`; lines it does not understand are skipped. */
export function parseMountinfo(text: string): MountEntry[] {
  const out: MountEntry[] = [];
  for (const line of text.split('\n')) {
    const fields = line.split(' ');
    const dash = fields.indexOf('-', 6);
    const [id, parentId, device, root, mountPoint, options] = fields;
    const [fsType, source, superOptions] = fields.slice(dash + 1);
    if (dash < 0 || mountPoint === undefined || root === undefined || fsType === undefined) continue;
    out.push({
      id: Number(id),
      parentId: Number(parentId),
      device: device ?? '',
      root: unescapeOctal(root),
      mountPoint: unescapeOctal(mountPoint),
      options: (options ?? '').split(','),
      fsType,
      source: unescapeOctal(source ?? ''),
      superOptions: (superOptions ?? '').split(','),
      shared: fields.slice(6, dash).some((field) => field.startsWith('shared:')),
    });
  }
  return out;
}

/** This process's mounts, oldest first. */
export async function readMounts(): Promise<MountEntry[]> {
  return parseMountinfo(await readFile('/proc/self/mountinfo', 'utf8'));
}

/** The mounts at or below `dir`, in the order in which they must be unmounted: newest of the deepest first. */
export function mountsBelow(mounts: MountEntry[], dir: string): MountEntry[] {
  const depth = (entry: MountEntry) => entry.mountPoint.split('/').length;
  return mounts
    .map((entry, index) => ({ entry, index }))
    .filter(({ entry }) => entry.mountPoint === dir || entry.mountPoint.startsWith(`${dir}/`))
    .sort((a, b) => depth(b.entry) - depth(a.entry) || b.index - a.index)
    .map(({ entry }) => entry);
}

/** The mounts on the way to `path`, links aside: of each mount point the one on top, outermost first. */
export function mountsOnTheWay(mounts: readonly MountEntry[], path: string): MountEntry[] {
  const found = new Map<string, MountEntry>();
  for (const entry of mounts) {
    const { mountPoint } = entry;
    if (mountPoint === '/' || path === mountPoint || path.startsWith(`${mountPoint}/`)) found.set(mountPoint, entry);
  }
  return [...found.values()].sort((a, b) => a.mountPoint.length - b.mountPoint.length);
}

/** The mount that is on top at exactly `path`. */
export function mountAt(mounts: MountEntry[], path: string): MountEntry | undefined {
  return mounts.findLast((entry) => entry.mountPoint === path);
}

/** The kernel writes space, tab, newline and backslash as `\ooo` of the raw byte. */
function unescapeOctal(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
}
