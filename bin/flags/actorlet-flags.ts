import type { FlagSpec } from './flag-spec.ts';

const group = 'actorlet';

/** actorlet's own flags; kubelet knows none of them. */
export const actorletFlags: readonly FlagSpec[] = [
  {
    name: 'shards',
    kind: 'int',
    group,
    usage: 'worker threads that hold pods (by default one less than the cores, 1 to 4)',
  },
  {
    name: 'journal-dir',
    kind: 'string',
    group,
    preset: '<root-dir>/journal',
    usage: 'folder of the message log',
  },
  {
    name: 'journal-max-bytes',
    kind: 'int',
    group,
    preset: '268435456',
    usage: 'disk that the message log may use',
  },
  {
    name: 'journal',
    kind: 'bool',
    group,
    preset: 'true',
    shownAs: '--no-journal',
    usage: 'write no message log',
  },
  {
    name: 'inspect',
    kind: 'string',
    group,
    bare: '127.0.0.1:10270',
    usage: 'serve the inspector at host:port (127.0.0.1:10270 without a value); its log has the address to open',
  },
  {
    name: 'private-containerd',
    kind: 'string',
    group,
    preset: 'auto',
    words: ['auto', 'always', 'never'],
    usage: 'start an own containerd: when no endpoint is given and no runtime is found, always, or never',
  },
  {
    name: 'stop-private-containerd',
    kind: 'bool',
    group,
    preset: 'false',
    usage: 'stop it when the agent ends',
  },
  {
    name: 'device-plugins-dir',
    kind: 'string',
    group,
    preset: '/var/lib/kubelet/device-plugins',
    usage:
      'folder where device plugins register, wherever the root directory is; another one for a second agent on a machine',
  },
  {
    name: 'wait-for-plugins',
    kind: 'duration',
    group,
    preset: '0s',
    usage: 'how long a pod waits for a device plugin that was there before, in place of being rejected (0s to 5m)',
  },
];
