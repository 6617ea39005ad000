import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { configErrors } from '../../machines/errors/config-errors.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { messageOf } from '../../machines/values/message-of.ts';
import { waitsForLock } from '../../machines/values/lock-table.ts';

/** Time from one look at the kernel's table of locks to the next, ms. */
const LOOK_MS = 1_000;

/** What `--lock-file` and `--exit-on-lock-contention` say. */
export interface LockWish {
  path: string;
  exitOnContention: boolean;
  log: Logger;
}

/** The lock; it is let go when the process ends, however it does. */
export interface AgentLock {
  /** Resolves when another process waits for it; never without `exitOnContention`. */
  readonly wanted: Promise<void>;
  release(): void;
}

/**
 * Takes the lock that one agent of a machine can hold, and waits for it as long as another one has it (flock, as kubelet's). Null when none is asked for.
 *
 * Kubelet watches with inotify who opens the file. Node cannot be told of that, so here it is who waits for the lock.
 *
 * @throws ActorletError CFG043 when contention is to end an agent without a lock, CFG044 when it cannot be taken
 */
export async function takeAgentLock({ path, exitOnContention, log }: LockWish): Promise<AgentLock | null> {
  if (path === '') {
    if (exitOnContention) throw new ActorletError(configErrors.noLockFile, {});
    return null;
  }
  log.info({ path }, 'Acquiring file lock');
  const { fd, holder } = await locked(path).catch((error: unknown) => {
    throw new ActorletError(configErrors.notLocked, { path, reason: messageOf(error) }, { cause: error });
  });
  if (!exitOnContention) return { wanted: new Promise(() => undefined), release: () => closeSync(fd) };
  log.info({ path }, 'Watching for contention of the lock file');
  const lock = { holder, inode: String(fstatSync(fd, { bigint: true }).ino) };
  let told: () => void = () => undefined;
  const wanted = new Promise<void>((resolve) => (told = resolve));
  const look = (): void => {
    let locks: string;
    try {
      locks = readFileSync('/proc/locks', 'latin1');
    } catch {
      // No descriptor is left for it: the next look has one.
      return;
    }
    if (!waitsForLock(locks, lock)) return;
    clearInterval(timer);
    log.info({ path }, 'Another process waits for the lock file');
    told();
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    wanted,
    release: () => {
      clearInterval(timer);
      closeSync(fd);
    },
  };
}

/**
 * Opens the file and has it locked. A lock of flock belongs to what was opened, which a child has, too: util-linux's `flock` takes it and
 * ends, and it stays ours. The child's is the process id that the kernel remembers.
 */
async function locked(path: string): Promise<{ fd: number; holder: number }> {
  const fd = openSync(path, constants.O_CREAT | constants.O_RDWR, 0o600);
  try {
    const child = spawn('flock', ['--exclusive', '3'], { stdio: ['ignore', 'ignore', 'pipe', fd] });
    let words = '';
    child.stderr?.on('data', (data: Buffer) => (words += data.toString('utf8')));
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (code !== 0) throw new Error(words.trim() || `flock: ${signal ?? `exit code ${code ?? ''}`}`);
    return { fd, holder: child.pid ?? 0 };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
