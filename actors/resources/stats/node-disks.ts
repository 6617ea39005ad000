import type { FilesystemUsage, ImageFsInfoResponse } from '../../../cri/generated/runtime/v1/api.ts';

/** How the node's disks lie. */
export interface NodeDisks {
  /** Images, or the layers beside them, are not on the file system of the agent's root folder. */
  imageFs: boolean;
  /** Writable layers of containers are not where the images are. */
  splitFs: boolean;
}

/**
 * Compares the devices of the agent's root folder, of the images and of writable layers (kubelet's HasDedicatedImageFs and
 * HasDedicatedContainerFs). Layers that the runtime does not tell of are with the images. Where no file system of images is on this
 * machine kubelet evicts nobody at all; here images then count as being on the one disk there is, so that memory is still watched.
 */
export async function nodeDisks(
  { imageFilesystems, containerFilesystems }: ImageFsInfoResponse,
  rootDir: string,
  device: (path: string) => Promise<string | null>,
): Promise<NodeDisks> {
  const first = async (list: readonly FilesystemUsage[]): Promise<string | null> => {
    const paths = list.flatMap(({ fsId }) => fsId?.mountpoint ?? []);
    const devices = await Promise.all(paths.map(device));
    return devices.find((found) => found !== null) ?? null;
  };
  const [images, layers, root] = await Promise.all([
    first(imageFilesystems),
    first(containerFilesystems),
    device(rootDir),
  ]);
  if (images === null) return { imageFs: false, splitFs: false };
  const splitFs = (layers ?? images) !== images;
  // Layers that lie apart make images apart, too, wherever these are: kubelet compares both (HasDedicatedImageFs).
  return { imageFs: images !== root || splitFs, splitFs };
}
