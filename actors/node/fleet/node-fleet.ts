import { join } from 'node:path';
import type { ApiClient } from '../../cluster/api/api-client.ts';
import { isNotFound } from '../../cluster/api/api-client.ts';
import { ResourceClaims } from '../../cluster/objects/resource-claims.ts';
import { fleetClock } from './fleet-clock.ts';
import type { FleetClock } from './fleet-clock.ts';
import { Failures } from './failures.ts';
import { planNodes } from './profile/plan-nodes.ts';
import type { PlannedNode, Share } from './profile/plan-nodes.ts';
import type { Profile } from './profile/profile-schema.ts';
import { SharedWatches } from './shared-watches.ts';
import type { CommonGround } from './simulated-ground.ts';
import { SimulatedMachine } from './simulated-machine.ts';
import { SimulatedNode } from './simulated-node.ts';

/** What a {@link NodeFleet} is made from. */
export interface NodeFleetOptions {
  profile: Profile;
  share: Share;
  seed: number;
  api: ApiClient;
  common: CommonGround;
  /** That of all nodes; the machine's when it is not given. */
  clock?: FleetClock;
  /** A node's InternalIP. */
  addressOf: (node: PlannedNode) => string;
}

/** Nodes that start at the same time, at most. */
const STARTING = 20;

/** All simulated nodes of a process. */
export class NodeFleet {
  readonly nodes: readonly SimulatedNode[];
  readonly shared: SharedWatches;
  readonly failures: Failures;
  private readonly api: ApiClient;
  private stopped = false;
  private readonly byName: ReadonlyMap<string, SimulatedNode>;

  constructor({ profile, share, seed, api, common, addressOf, clock = fleetClock() }: NodeFleetOptions) {
    this.api = api;
    this.shared = new SharedWatches(
      api,
      common.log,
      (node, uid) => this.named(node)?.parts?.store.reportOf(uid)?.status,
    );
    this.nodes = planNodes(profile, share).map((node) => {
      const address = addressOf(node);
      const machine = new SimulatedMachine({
        ...{ node, profile, seed, address, clock, log: common.log },
        rootDir: join(common.flags.rootDir, 'nodes', node.name),
        timeoutMs: common.config.runtimeRequestTimeout,
      });
      return new SimulatedNode({ node, machine, common, api, shared: this.shared, address });
    });
    this.failures = new Failures(profile.failures, this.nodes, seed, common.log, clock);
    this.byName = new Map(this.nodes.map((node) => [node.name, node]));
  }

  /** The node of that name. */
  named(name: string): SimulatedNode | undefined {
    return this.byName.get(name);
  }

  /** Starts all agents; resolves when all have. The times of the profile's failures begin then. */
  async start(): Promise<void> {
    await inTurns(this.nodes, STARTING, (node) => node.comeBack());
    if (!this.stopped) this.failures.start();
  }

  /** Ends all agents and machines; with `cleanUp` their objects go, too. */
  async stop(cleanUp: boolean): Promise<void> {
    this.stopped = true;
    this.failures.stop();
    await inTurns(this.nodes, 100, (node) => node.end());
    this.shared.stop();
    if (cleanUp) await inTurns(this.nodes, STARTING, (node) => this.remove(node));
  }

  /** The node's object, its lease and what its drivers published go; the control plane removes its pods. */
  private async remove({ name, machine }: SimulatedNode): Promise<void> {
    const { api } = this;
    const lease = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases', namespace: 'kube-node-lease' };
    if (machine.drivers.any) await unlessGone(new ResourceClaims(api, name).wipeSlices(null));
    for (const on of [{ group: '', version: 'v1', resource: 'nodes' }, lease])
      await unlessGone(api.request({ method: 'DELETE', on, name }));
  }
}

/** What is not there need not be removed. */
async function unlessGone(removal: Promise<unknown>): Promise<void> {
  await removal.catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** Does the same for all, so many at a time. */
async function inTurns<T>(items: readonly T[], most: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
}
