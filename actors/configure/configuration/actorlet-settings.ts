import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { InspectorAddress } from './inspector-address.ts';

/** actorlet's own settings; flags only, so that a configuration file stays one that kubelet reads too. */
export interface ActorletSettings {
  /** `--shards`: worker threads that hold pods. */
  shards: number;
  /** `--journal-dir`, absolute; null with `--no-journal`. */
  journalDir: string | null;
  /** `--journal-max-bytes`: disk that the journal may use in all. */
  journalMaxBytes: number;
  /** `--inspect`: where the inspector listens; null = off. */
  inspect: InspectorAddress | null;
  /** `--private-containerd`: start an own containerd when no runtime is found (auto), always, or never. */
  privateContainerd: 'auto' | 'always' | 'never';
  /** `--stop-private-containerd`: stop it (and its containers' supervision) when the agent ends. */
  stopPrivateContainerd: boolean;
  /** `--device-plugins-dir`: where device plugins register and `kubelet_internal_checkpoint` stands. */
  devicePluginsDir: string;
  /** `--wait-for-plugins`: how long a pod waits for a device plugin that was there before, ms; 0 = it is judged at once. */
  waitForPluginsMs: number;
}

/**
 * One worker thread for each core but the one of the main thread, 1 to 4: more would cost their memory (some 33 MiB
 * each) and bring nothing, since waiting for the runtime needs no thread.
 */
export function defaultShards(cores: number): number {
  return Math.min(4, Math.max(1, cores - 1));
}

/** Where device plugins look for a node's agent, wherever its root is (kubelet `DevicePluginPath`). */
const DEVICE_PLUGINS_DIR = '/var/lib/kubelet/device-plugins';

/** The defaults of an agent with this root directory. */
export function defaultSettings(rootDir: string): ActorletSettings {
  return {
    shards: defaultShards(availableParallelism()),
    journalDir: join(rootDir, 'journal'),
    journalMaxBytes: 268_435_456,
    inspect: null,
    privateContainerd: 'auto',
    stopPrivateContainerd: false,
    devicePluginsDir: DEVICE_PLUGINS_DIR,
    waitForPluginsMs: 0,
  };
}
