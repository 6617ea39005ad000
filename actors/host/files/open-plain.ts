import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { HostFailure } from './host-failure.ts';

/**
 * Opens a file for reading in a place where a container may have put anything: a FIFO without a writer, a device or a lease
 * does not make it wait. A folder is opened, too: reading it fails with the system's word. The caller closes the handle.
 *
 * @throws HostFailure `NotAFile` for anything else
 */
export async function openPlain(path: string): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const info = await handle.stat();
    if (info.isFile() || info.isDirectory()) return handle;
    throw new HostFailure('NotAFile', `${path} is not a regular file`);
  } catch (error) {
    await handle.close();
    throw error;
  }
}
