import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ActorletError } from '../../../machines/errors/define.ts';
import { certificateErrors } from '../../../machines/errors/certificate-errors.ts';

/** Mode of all that holds a key. */
export const SECRET_MODE = 0o600;

/**
 * Puts a file in place in one piece. It is opened new and with its final mode, so it never could be read by others, and
 * reaches the disk before it gets its name. Throws CERT021. The folder is made when it is missing (0755, as kubelet).
 */
export function placeFile(file: string, content: string, mode: number): void {
  const draft = join(dirname(file), `.${basename(file)}.draft`);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    // A draft that a killed agent left would make the exclusive open fail.
    rmSync(draft, { force: true });
    const fd = openSync(draft, 'wx', mode);
    try {
      writeSync(fd, content);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, file);
  } catch (cause) {
    removeQuietly(draft);
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new ActorletError(certificateErrors.cannotWrite, { file, reason }, { cause });
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The error that is told is the one that came first.
  }
}
