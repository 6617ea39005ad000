import { onDisk } from './current-disk.ts';

/** `actors/host/files/remove-tree.ts` over the simulated machine, for what makes volumes of claims: the loader maps that module to this one for it. */

/** As the agent's. */
export async function removeTree(root: string): Promise<void> {
  await onDisk((disk) => disk.remove(root));
}
