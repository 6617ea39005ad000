import { findRuntimeBinaries } from '../../../cri/private-containerd/binaries.ts';
import { hostFacts } from '../../../cri/private-containerd/host-facts.ts';
import { importImages } from '../../../cri/private-containerd/import-images.ts';
import type { TestContainerd } from './with-containerd.ts';

/**
 * Has a containerd take in archives of images, not pinned: image garbage collection may take them. Answers the path of its `ctr`.
 * @param own another containerd than the one on PATH, as it was started with
 */
export async function importArchives(
  { containerd: { layout } }: TestContainerd,
  archives: readonly string[],
  own: { containerd?: string } = {},
): Promise<string> {
  const [{ ctr }, { snapshotter }] = await Promise.all([findRuntimeBinaries(own), hostFacts(layout.root)]);
  for (const archive of archives)
    await importImages({ ctr, socket: layout.socket, snapshotter }, archive, [], layout.log);
  return ctr;
}
