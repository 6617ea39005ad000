import { hostPathPlugin } from '../resources/volumes/plugins/host-path.ts';
import { localPlugin } from '../resources/volumes/plugins/local.ts';
import { nfsPlugin } from '../resources/volumes/plugins/nfs.ts';
import type { VolumePlugin } from '../resources/volumes/volume-plugin.ts';
import type { VolumeLinks } from './edges.ts';
import type { NodeGround } from './node-ground.ts';

/** The kinds of volumes that this node sets up for pods; a new one is added here. The first that serves a volume has it. */
export function nodeVolumes({ rootDir, log }: NodeGround, { warn }: VolumeLinks): readonly VolumePlugin[] {
  return [hostPathPlugin, localPlugin({ rootDir, log, warn }), nfsPlugin];
}
