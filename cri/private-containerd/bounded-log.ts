import { copyFile, open, stat, truncate } from 'node:fs/promises';

/** Size at which the log of containerd is cut, in bytes: at most twice this is kept on disk. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;

/**
 * Keeps a log that another process appends to (O_APPEND) within bounds: beyond `maxBytes` its content moves to
 * `<file>.1` and the file starts again. The writer keeps its descriptor, so a rename would not do.
 */
export async function boundLog(file: string, maxBytes: number = MAX_LOG_BYTES): Promise<boolean> {
  const size = await stat(file).then(
    (s) => s.size,
    () => 0,
  );
  if (size <= maxBytes) return false;
  await copyFile(file, `${file}.1`);
  await truncate(file, 0);
  return true;
}

/** The last `lines` lines of a file, read from its last 16 KiB; '' when there is no file. */
export async function logTail(file: string, lines: number): Promise<string> {
  try {
    const handle = await open(file, 'r');
    try {
      const { size } = await handle.stat();
      const buffer = Buffer.alloc(Math.min(size, 16 * 1024));
      await handle.read(buffer, 0, buffer.length, size - buffer.length);
      return buffer.toString('utf8').trimEnd().split('\n').slice(-lines).join('\n');
    } finally {
      await handle.close();
    }
  } catch {
    return '';
  }
}
