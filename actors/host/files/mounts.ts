import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { CommandShell } from './command-shell.ts';
import { HostFailure, ignoring } from './host-failure.ts';
import { mountAt, mountsBelow, readMounts } from './mountinfo.ts';
import type { MountEntry } from './mountinfo.ts';

/** How long one `mount` or `umount` may take; a dead network file system must not hold a pod for ever. */
const COMMAND_TIMEOUT_MS = 120_000;
/** A command that takes longer does not hold up those of other pods. */
const COMMAND_STUCK_MS = 1_000;

const shell = new CommandShell(COMMAND_STUCK_MS, COMMAND_TIMEOUT_MS);

/** Ends the shell that mounts, unless it is at work: nothing is to be mounted for now. */
export async function mountsRest(): Promise<void> {
  await shell.rest();
}

/**
 * Mounts with util-linux `mount`; the failure's text is laid out as the kubelet's. Code `Mount`.
 * @param mounter program that is to mount instead: it is given `mount` and its arguments; '' = none
 */
export async function mount(
  source: string,
  target: string,
  fsType: string,
  options: string[],
  flags: string[] = [],
  mounter = '',
) {
  const args = [...flags];
  if (fsType !== '') args.push('-t', fsType);
  if (options.length > 0) args.push('-o', options.join(','));
  args.push(source, target);
  await runCommand(mounter || 'mount', 'Mount', 'Mounting', mounter === '' ? args : ['mount', ...args]);
}

/** Unmounts `targets` in their order, the topmost mount at each. Code `Unmount`, or `EBUSY` while one is in use. */
export async function unmount(...targets: string[]): Promise<void> {
  await runCommand('umount', 'Unmount', 'Unmounting', targets);
}

/** Lets the mount at `target` and all below it share what is mounted there. Code `Mount`. */
export async function makeShared(target: string): Promise<void> {
  await runCommand('mount', 'Mount', 'Mounting', ['--make-rshared', target]);
}

/** Whether something is mounted at exactly `path`; the topmost entry. Reads all mounts of the node. */
export async function mountOn(path: string): Promise<MountEntry | undefined> {
  return mountAt(await readMounts(), await canonical(path));
}

/**
 * Whether `path` is the root of another file system than the folder it is in. Two calls only, but blind to bind mounts
 * of the same file system.
 */
export async function isFileSystemRoot(path: string): Promise<boolean> {
  const [own, parent] = await Promise.all([ignoring(lstat(path), 'ENOENT'), ignoring(lstat(dirname(path)), 'ENOENT')]);
  return own !== undefined && parent !== undefined && own.isDirectory() && own.dev !== parent.dev;
}

/** The mounts at and below `dir` in the order in which they must be unmounted, also where its parents are links. */
export async function mountsIn(dir: string): Promise<MountEntry[]> {
  return mountsBelow(await readMounts(), await canonical(dir));
}

/**
 * Unmounts what is mounted at and below `dir`, deepest first. A `dir` that is a link is not followed.
 *
 * @param ours what to unmount of it, by the path below `dir` ('' for `dir` itself); all when absent
 * @throws ActorletError HOST007 when something of it is still mounted afterwards
 */
export async function unmountBelow(dir: string, ours: (inside: string) => boolean = () => true): Promise<void> {
  const start = (await canonical(dir)).length + 1;
  const find = async () => (await mountsIn(dir)).filter(({ mountPoint }) => ours(mountPoint.slice(start)));
  const mounts = await find();
  if (mounts.length === 0) return;
  const failures: string[] = [];
  // One process for all of them; only where that fails, one by one.
  const all = await unmount(...mounts.map((entry) => entry.mountPoint)).catch((error: unknown) => error);
  if (all === undefined) return;
  for (const entry of await find()) {
    await unmount(entry.mountPoint).catch((error: unknown) => failures.push(messageOf(error)));
  }
  const left = (await find()).map((entry) => entry.mountPoint);
  if (left.length > 0) {
    const cause = new Error(failures.join('; '));
    throw new ActorletError(hostErrors.stillMounted, { path: dir, mounts: left.join(', ') }, { cause });
  }
}

/** The path as the kernel's list of mounts writes it: links above the last part are followed. */
export async function canonical(path: string): Promise<string> {
  const parent = await ignoring(realpath(dirname(path)), 'ENOENT', 'ENOTDIR');
  return parent === undefined ? path : join(parent, basename(path));
}

/** Runs a command of the system by the same shell; the failure has its output. */
export async function runCommand(command: string, code: string, verb: string, args: string[]): Promise<void> {
  const { status, output } = await shell.run(command, args);
  if (status === 0) return;
  const how = status === null ? 'signal: killed' : `exit status ${status}`;
  const text = `${code.toLowerCase()} failed: ${how}\n${verb} command: ${command}\n${verb} arguments: ${args.join(' ')}\nOutput: ${output}`;
  throw new HostFailure(/target is busy/.test(output) ? 'EBUSY' : code, text);
}
