import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../host/files/host-failure.ts';

/**
 * Makes a folder with all above it, as `mkdir -p`. On a read-only file system it fails with EROFS, as the system says: Node's own says ENOENT then, as if
 * something were missing. Mode 0750, as kubelet's, for each that is made.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o750 });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || !(await isReadOnly(dirname(path)))) throw error;
    const text = `EROFS: read-only file system, mkdir '${path}'`;
    throw Object.assign(new Error(text, { cause: error }), { code: 'EROFS', syscall: 'mkdir', path });
  }
}

/** Is the nearest folder that is there on a read-only file system? */
async function isReadOnly(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK);
    return false;
  } catch (error) {
    const code = codeOf(error);
    return code === 'EROFS' || (code === 'ENOENT' && path !== dirname(path) && (await isReadOnly(dirname(path))));
  }
}
