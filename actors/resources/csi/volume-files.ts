import { open, rm, rmdir, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../volumes/make-folder.ts';
import { readVolumeData, VOLUME_DATA_BYTES, volumeDataText } from '../../../machines/csi/volume-data.ts';
import type { VolumeData } from '../../../machines/csi/volume-data.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import { mountOn } from '../../host/files/mounts.ts';
import { VOLUME_DATA } from './csi-names.ts';

const SAYS = 'kubernetes.io/csi:';

/** Writes what a volume is into a folder that it makes. Rejects with kubelet's words. */
export async function saveVolumeData(folder: string, data: VolumeData): Promise<void> {
  const path = join(folder, VOLUME_DATA);
  try {
    await makeFolder(folder);
    await writeFile(path, volumeDataText(data), { mode: 0o644 });
  } catch (error) {
    throw new Error(`${SAYS} failed to save volume data file ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** What a volume is, as its folder says; null when it says nothing. Rejects, with kubelet's words, when it cannot be read. */
export async function loadVolumeData(folder: string): Promise<VolumeData | null> {
  const path = join(folder, VOLUME_DATA);
  let text: string;
  try {
    const file = await ignoring(open(path, 'r'), 'ENOENT', 'ENOTDIR');
    if (file === undefined) return null;
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(VOLUME_DATA_BYTES), 0, VOLUME_DATA_BYTES, 0);
      text = buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new Error(`${SAYS} failed to open volume data file [${path}]: ${messageOf(error)}`, { cause: error });
  }
  const data = readVolumeData(text);
  if (data === null) throw new Error(`${SAYS} failed to parse volume data file [${path}]: it is no JSON of a volume`);
  return data;
}

/** Removes a mount point on which nothing is mounted any more, the data file beside it, and the folder of both (kubelet: removeMountDir). */
export async function removeMountDir(mountPath: string): Promise<void> {
  if ((await mountOn(mountPath)) !== undefined) return;
  const folder = dirname(mountPath);
  const gone = async (what: string, path: string, remove: Promise<void>): Promise<void> => {
    await ignoring(remove, 'ENOENT', 'ENOTDIR').catch((error: unknown) => {
      throw new Error(`${SAYS} failed to ${what} [${path}]: ${messageOf(error)}`, { cause: error });
    });
  };
  await gone('remove dir', mountPath, removeEither(mountPath));
  await gone('delete volume data file', join(folder, VOLUME_DATA), rm(join(folder, VOLUME_DATA), { force: true }));
  await gone('delete volume path', folder, rmdir(folder));
}

/** A folder that is empty, or a file: drivers of block volumes publish to one. */
async function removeEither(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
    await unlink(path);
  }
}
