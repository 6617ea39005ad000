import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { mountAt, mountsBelow, readMounts } from '../../actors/host/files/mountinfo.ts';
import type { MountEntry } from '../../actors/host/files/mountinfo.ts';

/** What is in a pod's folder, by path below it: `file 644 0:0 its content`, `link ..data`, `dir 777 0:3000`, and what is mounted there. */
export type PodFolder = Map<string, string>;

/** Longest content that is kept as it is, bytes; of a longer one its hash. */
const CONTENT_BYTES = 4096;
/** What is of one agent alone, or of one moment: a token, what a container wrote. */
const CONTENT_VARIES = /(^|\/)(token|termination-log|[0-9a-f]{8})$/;

/** Reads the folder that an agent keeps for a pod; empty when there is none. */
export async function readPodFolder(dir: string): Promise<PodFolder> {
  const out: PodFolder = new Map();
  await walk(dir, '', mountsBelow(await readMounts(), dir), out);
  return out;
}

async function walk(dir: string, below: string, mounts: MountEntry[], out: PodFolder): Promise<void> {
  const names = await readdir(join(dir, below)).catch(() => []);
  for (const name of names.sort()) {
    const path = below === '' ? name : `${below}/${name}`;
    // It may go while it is looked at.
    const told = await describe(join(dir, path)).catch(() => undefined);
    if (told === undefined) continue;
    out.set(steady(path), `${told}${mountText(mounts, join(dir, path))}`);
    if (told.startsWith('dir ')) await walk(dir, path, mounts, out);
  }
}

async function describe(path: string): Promise<string> {
  const found = await lstat(path);
  const owner = `${(found.mode & 0o7777).toString(8)} ${String(found.uid)}:${String(found.gid)}`;
  if (found.isSymbolicLink()) return `link ${steady(await readlink(path))}`;
  if (found.isDirectory()) return `dir ${owner}`;
  if (!found.isFile()) return `special ${owner}`;
  if (CONTENT_VARIES.test(path)) return `file ${owner}`;
  const content = await readFile(path);
  const long = content.length > CONTENT_BYTES;
  return `file ${owner} ${long ? createHash('sha256').update(content).digest('hex') : content.toString('utf8')}`;
}

/** Folders of atomic writes are named by the time. */
function steady(path: string): string {
  return path.replace(/\.\.\d{4}_[\d_]+\.\w+/g, '..TIME');
}

/** ` mounted TYPE OPTIONS` of what is mounted at a path; '' where nothing is. */
function mountText(mounts: MountEntry[], path: string): string {
  const mount = mountAt(mounts, path);
  if (mount === undefined) return '';
  const { fsType, options, superOptions } = mount;
  return ` mounted ${fsType} ${options.join()}${fsType === 'tmpfs' ? ` ${superOptions.join()}` : ''}`;
}
