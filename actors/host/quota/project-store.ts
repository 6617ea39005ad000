import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, lstat, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { ignoring } from '../files/host-failure.ts';
import { parseProjectLists, projectText } from './project-files.ts';
import type { ProjectLists } from './project-files.ts';

/** Where they are (`/etc/projects`, `/etc/projid`). */
export interface ProjectPaths {
  projects: string;
  projid: string;
}

/** For so long the lock of the files is waited for, s. */
const LOCK_SECONDS = 10;

/** Both files as they are now; one that is not there is empty. */
export async function readProjects({ projects, projid }: ProjectPaths): Promise<ProjectLists> {
  const text = async (path: string): Promise<string> => (await ignoring(readFile(path, 'utf8'), 'ENOENT')) ?? '';
  return parseProjectLists(await text(projects), await text(projid));
}

/**
 * Changes both files while nobody else does: under the lock that kubelet and its like take (flock(2), which Node has no call for, so
 * util-linux's command holds it), each written beside and put in the place of the old one. They are made when they are not there.
 *
 * @throws Error when one of them is no plain file, the lock cannot be had, or a file not be written
 */
export async function changeProjects(
  paths: ProjectPaths,
  change: (lists: ProjectLists) => Promise<ProjectLists>,
): Promise<void> {
  await mustBePlain(paths);
  for (const path of [paths.projects, paths.projid]) await (await open(path, 'a', 0o644)).close();
  const unlock = await lock(paths);
  try {
    await mustBePlain(paths);
    const before = await readProjects(paths);
    const after = await change(before);
    // Names first: an id without a name is worse than a name without a folder.
    if (after.projid !== before.projid) await replace(paths.projid, projectText(after.projid));
    if (after.projects !== before.projects) await replace(paths.projects, projectText(after.projects));
  } finally {
    await unlock();
  }
}

async function mustBePlain({ projects, projid }: ProjectPaths): Promise<void> {
  for (const path of [projects, projid]) {
    const found = await ignoring(lstat(path), 'ENOENT');
    if (found?.isFile() === false) throw new Error(`${path} exists but is not a plain file, cannot continue`);
  }
}

/** Returns what gives the lock back. */
async function lock({ projects, projid }: ProjectPaths): Promise<() => Promise<void>> {
  const wait = ['-x', '-w', String(LOCK_SECONDS)];
  // `cat` says that both are held, and ends with its input.
  const args = [...wait, projects, 'flock', ...wait, projid, 'sh', '-c', 'echo held && exec cat'];
  const child = spawn('flock', args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'close').catch(() => undefined);
  const held = await Promise.race([once(child.stdout, 'data').then(() => true), ended.then(() => false)]);
  if (!held) throw new Error(`unable to lock ${projects} and ${projid}`);
  return async () => {
    child.stdin.end();
    child.stdout.resume();
    await ended;
  };
}

async function replace(path: string, text: string): Promise<void> {
  const beside = `${path}.actorlet`;
  try {
    await writeFile(beside, text);
    await chmod(beside, (await stat(path)).mode & 0o777);
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}
