import type { ApiClient } from '../../../actors/cluster/api/api-client.ts';
import type { NodeEnd } from '../../../actors/node/cluster.ts';
import type { ObjectsEnd } from '../../../actors/node/cluster-objects.ts';
import type { Node } from '../../../machines/node-object/node-types.ts';
import type { Ask } from '../../../machines/protocol/ask.ts';
import { NODE_NAME } from './node-settings.ts';
import type { Owner, VirtualTime } from './virtual-time.ts';

/** The node's object: it is there from the first moment on, and known once the API server answers. No lease, no status. */
export class SimulatedNodeEnd implements NodeEnd {
  private readonly api: ApiClient;
  private readonly time: VirtualTime;
  private readonly owner: Owner;
  private readonly known = Promise.withResolvers<undefined>();
  private object: Node | null = null;

  constructor(api: ApiClient, time: VirtualTime, owner: Owner) {
    this.api = api;
    this.time = time;
    this.owner = owner;
  }

  start(): void {
    void this.register();
  }

  node(): Node | null {
    return this.object;
  }

  whenRegistered(): Promise<void> {
    return this.known.promise.then(() => undefined);
  }

  changed(): void {
    this.time.busy();
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  private async register(): Promise<void> {
    try {
      const on = { group: '', version: 'v1', resource: 'nodes' };
      this.object = await this.api.request<Node>({ method: 'GET', on, name: NODE_NAME });
      this.known.resolve(undefined);
    } catch {
      this.time.after(1_000, this.owner, () => void this.register(), false);
    }
  }
}

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
  podWanted: () => undefined,
  podGone: () => undefined,
  start: () => undefined,
  stop: () => undefined,
};
