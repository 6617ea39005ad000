import type { FileHandle } from 'node:fs/promises';
import { openPlain } from './open-plain.ts';

/** The last `maxBytes` of a regular file. */
export async function readTail(path: string, maxBytes: number): Promise<Buffer> {
  return withFile(path, async (file, size) => readAt(file, Math.max(0, size - maxBytes), Math.min(size, maxBytes)));
}

/** Opens a regular file for reading, and closes it when it was used. */
export async function withFile<T>(path: string, use: (file: FileHandle, size: number) => Promise<T>): Promise<T> {
  const file = await openPlain(path);
  try {
    return await use(file, (await file.stat()).size);
  } finally {
    await file.close();
  }
}

/** So many bytes from `position` on, or what there is of them. */
export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead);
}
