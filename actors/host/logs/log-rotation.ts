import { createWriteStream } from 'node:fs';
import { readdir, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Logger } from 'pino';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ignoring } from '../files/host-failure.ts';
import { openPlain } from '../files/open-plain.ts';

/** A container as the rotation sees it. */
export interface LoggingContainer {
  id: string;
  /** Full path of the log that the runtime writes. */
  logPath: string;
  /** Only `running` containers are rotated. */
  state: 'created' | 'running' | 'exited' | 'unknown';
}

/** What the rotation needs. */
export interface LogRotationOptions {
  listContainers: () => Promise<LoggingContainer[]>;
  /** CRI ReopenContainerLog. */
  reopen: (containerId: string) => Promise<void>;
  /** `containerLogMaxSize` in bytes; negative = no rotation. */
  maxSizeBytes: number;
  /** `containerLogMaxFiles`, at least 2: the log itself and rotated ones. */
  maxFiles: number;
  /** `containerLogMonitorInterval`. */
  intervalMs: number;
  /** `containerLogMaxWorkers`: logs rotated at a time. */
  workers: number;
  log: Logger;
  /** For tests; the local time gives the name of a rotated log. */
  now?: () => Date;
}

/** Handle on the running rotation. */
export interface LogRotation {
  /** Does one round now (or joins the one that is under way). Never rejects. */
  runOnce(): Promise<void>;
  /** Stops, after the round under way. */
  stop(): Promise<void>;
}

/** Rotates the logs of running containers each `intervalMs`, as the kubelet's container log manager does. */
export function startLogRotation(options: LogRotationOptions): LogRotation {
  let stopped = false;
  let running: Promise<void> | undefined;
  const runOnce = (): Promise<void> =>
    (running ??= round(options)
      .catch((error: unknown) => options.log.error({ err: messageOf(error) }, 'Failed to rotate container logs'))
      .finally(() => (running = undefined)));
  const timer = setInterval(() => {
    if (!stopped) void runOnce();
  }, options.intervalMs);
  timer.unref();
  return {
    runOnce,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}

async function round(options: LogRotationOptions): Promise<void> {
  const containers = (await options.listContainers()).filter((container) => container.state === 'running');
  if (options.maxSizeBytes >= 0) {
    const queue = [...containers];
    const work = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const { id, logPath } = next;
        await rotateIfBig(next, options).catch((error: unknown) =>
          options.log.error(
            { containerID: id, path: logPath, err: messageOf(error) },
            'Failed to rotate log for container',
          ),
        );
      }
    };
    await Promise.all(Array.from({ length: Math.max(1, options.workers) }, work));
  }
}

async function rotateIfBig(container: LoggingContainer, options: LogRotationOptions): Promise<void> {
  const { id, logPath } = container;
  if (logPath === '') return;
  let info = await ignoring(stat(logPath), 'ENOENT');
  if (info === undefined) {
    // Someone took the file away; the runtime still writes into the deleted one.
    await options.reopen(id);
    info = await stat(logPath);
  }
  if (info.size < options.maxSizeBytes) return;
  const kept = await removeOld(logPath, options.maxFiles);
  for (const path of kept) if (!path.endsWith('.gz')) await compress(path);
  const rotated = `${logPath}.${timestamp((options.now ?? (() => new Date()))())}`;
  // Twice in one second: the first one must not be overwritten.
  if ((await ignoring(stat(rotated), 'ENOENT')) !== undefined) return;
  await rename(logPath, rotated);
  try {
    await options.reopen(id);
  } catch (error) {
    // Back again, so that the next round can try; the runtime keeps writing into this very file.
    await rename(rotated, logPath);
    throw error;
  }
}

/** Removes leftovers of broken rounds and the oldest logs; returns the rotated logs that stay, oldest first. */
async function removeOld(logPath: string, maxFiles: number): Promise<string[]> {
  const dir = dirname(logPath);
  const names = (await readdir(dir)).filter((name) => name.startsWith(`${basename(logPath)}.`)).sort();
  const leftover = (name: string) => name.endsWith('.tmp') || (!name.endsWith('.gz') && names.includes(`${name}.gz`));
  const used = names.filter((name) => !leftover(name));
  // One place is for the log itself and one for the log that is about to be rotated.
  const excess = used.slice(0, Math.max(0, used.length - Math.max(0, maxFiles - 2)));
  for (const name of [...names.filter(leftover), ...excess]) await unlink(join(dir, name));
  return used.slice(excess.length).map((name) => join(dir, name));
}

async function compress(path: string): Promise<void> {
  const temporary = `${path}.tmp`;
  try {
    const file = await openPlain(path);
    const { mode } = await file.stat();
    // A new one only: what a pod that may write to the folder of logs has put there is neither opened nor written to.
    const target = createWriteStream(temporary, { flags: 'wx', mode: mode & 0o777 });
    // The stream closes the file.
    await pipeline(file.createReadStream(), createGzip(), target);
    await rename(temporary, `${path}.gz`);
  } finally {
    await ignoring(unlink(temporary), 'ENOENT');
  }
  await unlink(path);
}

/** `20060102-150405` in local time. */
function timestamp(now: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  return `${day}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
}
