import { join } from 'node:path';
import { pino } from 'pino';
import { defaultSettings } from '../../../../actors/configure/configuration/actorlet-settings.ts';
import { cgroupVersionOf } from '../../../../actors/configure/configuration/cgroup-version.ts';
import type { KubeletFlags } from '../../../../actors/configure/configuration/kubelet-flags.ts';
import { loadConfiguration } from '../../../../actors/configure/configuration/load-configuration.ts';
import { startNode } from '../../../../actors/node/node.ts';
import type { RunningNode } from '../../../../actors/node/node-options.ts';
import type { Pod } from '../../../../machines/protocol/api-types.ts';
import type { TestContainerd } from '../../support/with-containerd.ts';
import { NODE_NAME, TestNode } from './test-node.ts';
import { breakableThreads } from '../../../simulated/agent/support/break-shard.ts';
import { waitFor } from '../../../tools/wait-for.ts';

/** The node agent as a library in the test's own process: its worker threads can be harmed. */
export class InProcessNode {
  readonly node: RunningNode;
  private readonly place: TestNode;

  private constructor(place: TestNode, node: RunningNode) {
    this.place = place;
    this.node = node;
  }

  /** Starts containerd and the agent with so many shards. */
  static async start(shards: number): Promise<InProcessNode> {
    const place = await TestNode.make();
    try {
      const { config } = loadConfiguration({
        configFile: join(place.rootDir, 'config.json'),
        flags: [],
        cgroupVersion: cgroupVersionOf(),
      });
      const node = await startNode({
        config: { ...config, staticPodPath: place.manifests },
        flags: flagsOf(place.rootDir),
        settings: {
          ...defaultSettings(place.rootDir),
          ...{ shards, devicePluginsDir: join(place.rootDir, 'device-plugins') },
        },
        endpoint: place.containerd.endpoint,
        log: pino({ level: 'silent' }),
        workerLog: { format: 'json', verbosity: 0 },
        threads: breakableThreads(shards),
      });
      return new InProcessNode(place, node);
    } catch (error) {
      await place.stop();
      throw error;
    }
  }

  get containerd(): TestContainerd {
    return this.place.containerd;
  }

  write(file: string, manifest: object): Promise<void> {
    return this.place.write(file, manifest);
  }

  remove(file: string): Promise<void> {
    return this.place.remove(file);
  }

  podByUid(uid: string): Pod | undefined {
    return this.node.store.list().find((p) => p.metadata?.uid === uid);
  }

  /** Waits until the pod of this UID is as `fits` wants it. */
  waitPod(uid: string, what: string, fits: (pod: Pod) => boolean): Promise<Pod> {
    return waitFor(
      `pod ${uid}: ${what}`,
      () => {
        const pod = this.podByUid(uid);
        return pod !== undefined && fits(pod) ? pod : undefined;
      },
      () => JSON.stringify([this.podByUid(uid)?.status, this.node.store.reportOf(uid)?.why]),
    );
  }

  /** Ids of all running containers, sorted by pod and name. */
  async running(): Promise<string[]> {
    const all = await this.place.containers();
    return all
      .filter((c) => c.running)
      .map((c) => `${c.pod} ${c.name} ${c.id}`)
      .sort();
  }

  /** How often a shard was replaced. */
  async restarts(shard: number): Promise<number> {
    return (await this.metric(`actorlet_shard_restarts_total{shard="${shard}"}`)) ?? 0;
  }

  /** Messages that a shard has handled in all its lives. */
  async handled(shard: number): Promise<number> {
    return (await this.metric(`actorlet_shard_messages_total{shard="${shard}"}`)) ?? 0;
  }

  private async metric(name: string): Promise<number | undefined> {
    const line = (await this.node.metrics.text()).split('\n').find((l) => l.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  }

  async stop(): Promise<void> {
    try {
      await this.node.stop();
    } finally {
      await this.place.stop();
    }
  }
}

function flagsOf(rootDir: string): KubeletFlags {
  return {
    configFile: join(rootDir, 'config.json'),
    configDir: '',
    rootDir,
    certDir: join(rootDir, 'pki'),
    kubeconfig: '',
    bootstrapKubeconfig: '',
    hostnameOverride: NODE_NAME,
    nodeIPs: [],
    nodeLabels: {},
    cloudProvider: '',
    runtimeCgroups: '',
    imageCredentialProviderConfig: '',
    imageCredentialProviderBinDir: '',
    lockFile: '',
    exitOnLockContention: false,
    minimumContainerTtlDuration: 0,
    maximumDeadContainers: -1,
    maximumDeadContainersPerContainer: 1,
    experimentalMounterPath: '',
    experimentalAllocatableIgnoreEviction: false,
  };
}
