import { readdir } from 'node:fs/promises';

/** Logs of a container are named by its restart count; rotated parts have more behind that. */
const LOG_NAME = /^(\d+)\.log/;
/** `restartCount` in the API is an int32: a file with a higher number is none of the agent's. */
const MAX_RESTARTS = 2 ** 31 - 1;

/**
 * Restart count of the container that follows those whose logs are in `folder`; 0 when there are none. A runtime that lost its
 * state (some do with a reboot) knows no container any more, and the next one would write into the log of an earlier one
 * (kubelet `calcRestartCountByLogDir`).
 */
export async function loggedRestarts(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let next = 0;
  for (const entry of entries) {
    const count = Number(LOG_NAME.exec(entry.name)?.[1] ?? NaN);
    if (!entry.isDirectory() && count < MAX_RESTARTS) next = Math.max(next, count + 1);
  }
  return next;
}
