import { execFile } from 'node:child_process';
import { ActorletError } from '../../machines/errors/define.ts';
import { hostErrors } from '../../machines/errors/host-errors.ts';
import { HostFailure, codeOf, textOf } from './host-failure.ts';
import { mountAt, mountsBelow, readMounts } from './mountinfo.ts';
import type { MountEntry } from './mountinfo.ts';

/** How long one `mount` or `umount` may take; a dead network file system must not hold a pod for ever. */
const COMMAND_TIMEOUT_MS = 120_000;

/** Mounts with util-linux `mount`; the failure's text is laid out as the kubelet's. Code `Mount`. */
export async function mount(source: string, target: string, fsType: string, options: string[], flags: string[] = []) {
  const args = [...flags];
  if (fsType !== '') args.push('-t', fsType);
  if (options.length > 0) args.push('-o', options.join(','));
  await run('mount', 'Mount', 'Mounting', [...args, source, target]);
}

/** Unmounts `target`, the topmost mount there. Code `Unmount`, or `EBUSY` while it is in use. */
export async function unmount(target: string): Promise<void> {
  await run('umount', 'Unmount', 'Unmounting', [target]);
}

/** Whether something is mounted at exactly `path`; the topmost entry. */
export async function mountOn(path: string): Promise<MountEntry | undefined> {
  return mountAt(await readMounts(), path);
}

/**
 * Unmounts everything at and below `dir`, deepest first.
 *
 * @throws ActorletError HOST007 when something is still mounted afterwards
 */
export async function unmountBelow(dir: string): Promise<void> {
  const failures: string[] = [];
  for (const entry of mountsBelow(await readMounts(), dir)) {
    await unmount(entry.mountPoint).catch((error: unknown) => failures.push(textOf(error)));
  }
  const left = mountsBelow(await readMounts(), dir).map((entry) => entry.mountPoint);
  if (left.length > 0) {
    const cause = new Error(failures.join('; '));
    throw new ActorletError(hostErrors.stillMounted, { path: dir, mounts: left.join(', ') }, { cause });
  }
}

function run(command: string, code: string, verb: string, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(
      command,
      args,
      { timeout: COMMAND_TIMEOUT_MS, env: { ...process.env, LC_ALL: 'C' } },
      (error, out, err) => {
        if (error === null) return resolve();
        const output = `${out}${err}`;
        const exit = codeOf(error);
        const status = /^\d+$/.test(exit) ? `exit status ${exit}` : textOf(error);
        const lower = code.toLowerCase();
        const text = `${lower} failed: ${status}\n${verb} command: ${command}\n${verb} arguments: ${args.join(' ')}\nOutput: ${output}`;
        reject(new HostFailure(/target is busy/.test(output) ? 'EBUSY' : code, text, { cause: error }));
      },
    );
  });
}
