import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { VolumePlugin, VolumeSpec } from './volume-plugin.ts';

/** What was looked up last of a pod's volume. */
export interface LookedUp {
  pod: Pod;
  spec: VolumeSpec;
  plugin: VolumePlugin;
  device: string;
  /** With which it is mounted as a whole; '' = none. */
  seLinuxLabel: string;
}
