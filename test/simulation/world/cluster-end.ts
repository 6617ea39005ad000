import type { Logger } from 'pino';
import type { ApiClient } from '../../../actors/cluster/api/api-client.ts';
import { NodeObject } from '../../../actors/cluster/node-object/node-object.ts';
import type { NodeObjectOptions } from '../../../actors/cluster/node-object/node-object-options.ts';
import type { KubeletFlags } from '../../../actors/configure/configuration/kubelet-flags.ts';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import type { Clock } from '../../../actors/host/time/clock.ts';
import type { NodeEnd } from '../../../actors/node/cluster.ts';
import type { ObjectsEnd } from '../../../actors/node/cluster-objects.ts';
import type { Node } from '../../../machines/node-object/node-types.ts';
import type { Ask } from '../../../machines/protocol/ask.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { NodeApiEdge } from './node-api-edge.ts';
import { NODE_NAME } from './node-settings.ts';
import type { Owner, VirtualTime } from './virtual-time.ts';

/** What the node's end is made from. */
export interface NodeEndOptions {
  api: ApiClient;
  nodes: NodeApiEdge;
  time: VirtualTime;
  owner: Owner;
  settings: NodeSettings;
  /** The real keeper is at work. */
  kept: boolean;
  /** What its status is to say; null where pods have no claims. */
  volumesInUse: (() => readonly string[] | null) | null;
  links: Pick<NodeObjectOptions, 'runtimeState' | 'plegError' | 'conditions' | 'shutdownErrors' | 'journal'> & {
    clock: Clock;
  };
  log: Logger;
}

/** Long pauses, so that a node at rest does little: a renewal of the lease each half hour, a look each hour. */
const { config: DEFAULTS } = loadConfiguration({ flags: [], cgroupVersion: 2 });
const CONFIG = { ...DEFAULTS, nodeStatusUpdateFrequency: 3_600_000, nodeLeaseDurationSeconds: 7_200 };

/**
 * The node's object. Pods see one that is there from the first moment on, and known once the API server answers. Beside it the
 * real keeper of object and lease is at work on an API server of its own, so that neither moves what happens to the pods.
 */
export class SimulatedNodeEnd implements NodeEnd {
  private readonly options: NodeEndOptions;
  private readonly known = Promise.withResolvers<undefined>();
  private readonly keeper: NodeObject | null;
  /** The keeper's events are ordered by themselves, too; it lives as long as the agent. */
  private readonly keeping: Owner;
  private object: Node | null = null;
  private telling = false;

  constructor(options: NodeEndOptions) {
    this.options = options;
    const { nodes, owner, settings, links, log, kept } = options;
    this.keeping = {
      name: `${owner.name}/node-object`,
      quiet: true,
      get alive() {
        return owner.alive;
      },
    };
    if (!kept) {
      this.keeper = null;
      return;
    }
    this.keeper = new NodeObject({
      ...links,
      api: nodes.client(this.keeping),
      config: CONFIG,
      flags: { rootDir: settings.rootDir, nodeIPs: [], nodeLabels: {}, cloudProvider: '' } as unknown as KubeletFlags,
      cri: silentRuntime,
      events: { record: () => undefined },
      log,
      settings,
      now: links.clock.now,
      facts: nodes.facts,
      random: () => nodes.random.next(),
    });
  }

  start(): void {
    this.keep((keeper) => keeper.start());
    void this.register();
  }

  node(): Node | null {
    return this.object;
  }

  whenRegistered(): Promise<void> {
    return this.known.promise.then(() => undefined);
  }

  changed(): void {
    this.options.time.busy();
    if (this.object !== null) void this.tellVolumes();
    this.keep((keeper) => keeper.changed());
  }

  told(): boolean {
    return this.keeper?.told() ?? true;
  }

  hasSpoken(): boolean {
    return this.keeper?.hasSpoken() ?? true;
  }

  close(): void {
    this.keeper?.close();
  }

  stop(): Promise<void> {
    return this.keeper?.stop() ?? Promise.resolve();
  }

  private keep(act: (keeper: NodeObject) => void): void {
    const { keeper } = this;
    if (keeper !== null) this.options.time.after(0, this.keeping, () => act(keeper), false);
  }

  /** The node's status names volumes in use; one request at a time, and again when it fails. */
  private async tellVolumes(): Promise<void> {
    const { api, time, owner, volumesInUse } = this.options;
    if (volumesInUse === null || this.telling) return;
    this.telling = true;
    try {
      for (;;) {
        const told = [...(volumesInUse() ?? [])];
        if (String(told) === String(this.object?.status?.volumesInUse ?? [])) break;
        const on = { group: '', version: 'v1', resource: 'nodes' };
        const body = { status: { volumesInUse: told } };
        const request = { method: 'PATCH', on, name: NODE_NAME, subresource: 'status', body } as const;
        this.object = await api.request<Node>(request);
      }
    } catch {
      time.after(1_000, owner, () => void this.tellVolumes(), false);
    } finally {
      this.telling = false;
    }
  }

  private async register(): Promise<void> {
    const { api, time, owner } = this.options;
    try {
      const on = { group: '', version: 'v1', resource: 'nodes' };
      this.object = await api.request<Node>({ method: 'GET', on, name: NODE_NAME });
      this.known.resolve(undefined);
      await this.tellVolumes();
    } catch {
      time.after(1_000, owner, () => void this.register(), false);
    }
  }
}

/** What a runtime says of itself to the node's object; nothing of it changes. */
const silentRuntime = {
  runtime: {
    version: () => Promise.resolve({ runtimeName: 'actorlet-sim', runtimeVersion: '1' }),
    status: () => Promise.resolve({ runtimeHandlers: [] }),
    updateRuntimeConfig: () => Promise.resolve({}),
  },
  image: { listImages: () => Promise.resolve({ images: [] }) },
} as unknown as NodeObjectOptions['cri'];

/** A cluster without services, whose configMaps and secrets are all there. */
export const answers = (async (what: string) => {
  if (what === 'services.Env') return { envs: [] };
  if (what === 'object.Get') return { found: { data: { key: 'value' }, binaryData: {}, type: '' } };
  if (what === 'image.MayUse') return { allowed: true, unchecked: true };
  throw Object.assign(new Error('not simulated'), { code: 'NoClient' });
}) as unknown as Ask;

/** Objects that pods use: never changed by themselves, so nothing is watched. */
export const simulatedObjects: ObjectsEnd = {
  answers,
  pluginTokens: undefined,
  secret: () => Promise.resolve(null),
  csi: null,
  storage: {
    claim: () => Promise.reject(new Error('not simulated')),
    volume: () => Promise.reject(new Error('not simulated')),
    patchClaim: () => Promise.reject(new Error('not simulated')),
  },
  podWanted: () => undefined,
  podGone: () => undefined,
  start: () => undefined,
  stop: () => undefined,
};
