import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../host/files/host-failure.ts';
import { isReadOnly, isThere } from '../../host/files/what-is-there.ts';

/**
 * Makes a folder with all above it, as `mkdir -p`. On a read-only file system it fails with EROFS, as the system says: Node's own says ENOENT then, as if
 * something were missing. Mode 0750, as kubelet's, for each that is made.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o750 });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || !(await isReadOnly(await nearest(path)))) throw error;
    const text = `EROFS: read-only file system, mkdir '${path}'`;
    throw Object.assign(new Error(text, { cause: error }), { code: 'EROFS', syscall: 'mkdir', path });
  }
}

/** The nearest of the folders above that is there. */
async function nearest(path: string): Promise<string> {
  const above = dirname(path);
  return above === path || (await isThere(above)) ? above : nearest(above);
}
