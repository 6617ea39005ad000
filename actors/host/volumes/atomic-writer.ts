import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { HostFailure, ignoring } from '../files/host-failure.ts';

/** One file of a projected volume. */
export interface ProjectedFile {
  content: string | Uint8Array;
  /** Permission bits. */
  mode: number;
  /** Owner, where it is not root (service-account tokens of a pod with one user). */
  uid?: number;
}

const DATA_LINK = '..data';
const NEW_DATA_LINK = '..data_tmp';
/** Name of a folder with one version of the files. */
const VERSION = /^\.\.\d{4}(_\d\d){5}\./;

/**
 * Brings `targetDir` to hold exactly `files` (key: path relative to it), all at once for whoever reads there: the
 * files lie in a folder with a time stamp, the link `..data` points to it and is replaced by one rename, and what the
 * reader sees by name are links through `..data`. What is unchanged is not written. The layout is the kubelet's,
 * so a node can switch agents without its volumes being written again.
 *
 * @param setPermissions called when the new folder is written and before readers see it
 * @returns whether anything was written
 * @throws HostFailure `InvalidPath` for an absolute path, one with `..` or too long names
 */
export async function writeAtomically(
  targetDir: string,
  files: ReadonlyMap<string, ProjectedFile>,
  setPermissions?: () => Promise<void>,
): Promise<boolean> {
  const wanted = new Map([...files].map(([path, file]) => [cleanPath(path), file]));
  const oldName = await ignoring(readlink(join(targetDir, DATA_LINK)), 'ENOENT');
  const oldDir = oldName === undefined ? undefined : join(targetDir, oldName);
  const stale = oldDir === undefined ? [] : await stalePaths(oldDir, wanted);
  const write = oldDir === undefined || stale.length > 0 || (await differs(oldDir, wanted));
  if (write) await publish(targetDir, wanted, setPermissions);
  // Also without a write: a crash may have come between the rename and the links.
  for (const first of new Set([...wanted.keys()].map(firstPart))) {
    await ignoring(symlink(posix.join(DATA_LINK, first), join(targetDir, first)), 'EEXIST');
  }
  for (const path of stale.filter((one) => !one.includes('/'))) await ignoring(unlink(join(targetDir, path)), 'ENOENT');
  if (write) await removeOldVersions(targetDir);
  return write;
}

/** All versions but the one that is shown, also such as an agent left when it died in the middle of a write. */
async function removeOldVersions(targetDir: string): Promise<void> {
  const shown = await readlink(join(targetDir, DATA_LINK));
  for (const name of await readdir(targetDir)) {
    if (name !== shown && VERSION.test(name)) await rm(join(targetDir, name), { recursive: true, force: true });
  }
}

async function publish(
  targetDir: string,
  files: ReadonlyMap<string, ProjectedFile>,
  setPermissions?: () => Promise<void>,
): Promise<void> {
  const stampDir = await mkdtemp(join(targetDir, `${timestamp(new Date())}.`));
  const newLink = join(targetDir, NEW_DATA_LINK);
  try {
    // Not 0700 as mkdtemp makes it: the pod's user must get through.
    await chmod(stampDir, 0o755);
    for (const [path, file] of files) await writeOne(join(stampDir, path), file);
    await setPermissions?.();
    await ignoring(unlink(newLink), 'ENOENT');
    await symlink(posix.basename(stampDir), newLink);
    await rename(newLink, join(targetDir, DATA_LINK));
  } catch (error) {
    await rm(newLink, { force: true });
    await rm(stampDir, { recursive: true, force: true });
    throw error;
  }
}

async function writeOne(path: string, file: ProjectedFile): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o777 });
  await writeFile(path, file.content, { mode: file.mode });
  await chmod(path, file.mode);
  if (file.uid !== undefined) await chown(path, file.uid, (await lstat(path)).gid);
}

async function differs(oldDir: string, files: ReadonlyMap<string, ProjectedFile>): Promise<boolean> {
  for (const [path, { content }] of files) {
    const old = await ignoring(readFile(join(oldDir, path)), 'ENOENT', 'ENOTDIR', 'EISDIR');
    if (old === undefined || !old.equals(typeof content === 'string' ? Buffer.from(content) : content)) return true;
  }
  return false;
}

/** Paths (files and folders) of the old version that the new one has neither as a file nor as a folder. */
async function stalePaths(oldDir: string, files: ReadonlyMap<string, ProjectedFile>): Promise<string[]> {
  const kept = new Set<string>();
  for (const path of files.keys()) for (let part = path; part !== '.'; part = posix.dirname(part)) kept.add(part);
  const old = (await ignoring(readdir(oldDir, { recursive: true }), 'ENOENT')) ?? [];
  return old.filter((path) => !kept.has(path));
}

function cleanPath(path: string): string {
  const fail = (why: string) => new HostFailure('InvalidPath', `invalid path: ${why}`);
  if (path === '') throw fail('must not be empty: ""');
  if (path.startsWith('/')) throw fail(`must be relative path: ${path}`);
  if (Buffer.byteLength(path) > 4096) throw fail('must be less than or equal to 4096 characters');
  const parts = path.split('/');
  if (parts.includes('..')) throw fail(`must not contain '..': ${path}`);
  if (parts.some((part) => Buffer.byteLength(part) > 255))
    throw fail('filenames must be less than or equal to 255 characters');
  if (parts[0]?.startsWith('..')) throw fail(`must not start with '..': ${path}`);
  const clean = posix.normalize(path).replace(/\/$/, '');
  if (clean === '.' || clean.startsWith('..')) throw fail(`must not start with '..': ${path}`);
  return clean;
}

function firstPart(path: string): string {
  return path.split('/', 1)[0] ?? path;
}

/** `..2006_01_02_15_04_05` in UTC. */
function timestamp(now: Date): string {
  return `..${now.toISOString().slice(0, 19).replace(/[-T:]/g, '_')}`;
}
