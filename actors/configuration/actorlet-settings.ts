import { join } from 'node:path';

/** actorlet's own settings; flags only, so that a configuration file stays one that kubelet reads too. */
export interface ActorletSettings {
  /** `--shards`: worker threads that hold pods. */
  shards: number;
  /** `--journal-dir`, absolute; null with `--no-journal`. */
  journalDir: string | null;
  /** `--journal-max-bytes`: disk that the journal may use in all. */
  journalMaxBytes: number;
  /** `--private-containerd`: start an own containerd when no runtime is found (auto), always, or never. */
  privateContainerd: 'auto' | 'always' | 'never';
  /** `--stop-private-containerd`: stop it (and its containers' supervision) when the agent ends. */
  stopPrivateContainerd: boolean;
}

/** The defaults below a root directory. */
export function defaultSettings(rootDir: string): ActorletSettings {
  return {
    shards: 2,
    journalDir: join(rootDir, 'journal'),
    journalMaxBytes: 268_435_456,
    privateContainerd: 'auto',
    stopPrivateContainerd: false,
  };
}
