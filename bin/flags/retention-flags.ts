import type { FlagSpec } from './flag-spec.ts';

/** Flags of old that still count, or did. */
export const retentionFlags: readonly FlagSpec[] = [
  {
    name: 'minimum-container-ttl-duration',
    kind: 'duration',
    group: 'Deprecated',
    preset: '0s',
    deprecated: 'eviction',
    usage: 'least age of an ended container before it is removed',
  },
  {
    name: 'maximum-dead-containers',
    kind: 'int',
    group: 'Deprecated',
    preset: '-1',
    deprecated: 'eviction',
    usage: 'ended containers kept on the node; negative for no limit',
  },
  {
    name: 'maximum-dead-containers-per-container',
    kind: 'int',
    group: 'Deprecated',
    preset: '1',
    deprecated: 'eviction',
    usage: 'ended instances kept of each container',
  },
  {
    name: 'experimental-mounter-path',
    kind: 'string',
    group: 'Deprecated',
    deprecated: 'mounter',
    usage: 'program that mounts network file systems (nfs): it is given `mount` and its arguments',
  },
  {
    name: 'experimental-allocatable-ignore-eviction',
    kind: 'bool',
    group: 'Deprecated',
    preset: 'false',
    deprecated: 'ignore',
    usage: 'leave hard thresholds out of node allocatable',
  },
];
