import { mkdirSync } from 'node:fs';
import { trackedPod } from '../../../machines/supervisor/pod-table.ts';
import { buildNode } from '../build-node.ts';
import type { NodeParts } from '../build-node.ts';
import { Lifecycle } from '../lifecycle.ts';
import type { ApiClient } from '../../cluster/api/api-client.ts';
import { NodeApi } from './node-api.ts';
import type { PlannedNode } from './profile/plan-nodes.ts';
import type { SharedWatches } from './shared-watches.ts';
import { simulatedEdges } from './simulated-edges.ts';
import { simulatedGround } from './simulated-ground.ts';
import type { CommonGround } from './simulated-ground.ts';
import type { SimulatedMachine } from './simulated-machine.ts';

/** What a {@link SimulatedNode} is made from. */
export interface SimulatedNodeOptions {
  node: PlannedNode;
  machine: SimulatedMachine;
  common: CommonGround;
  api: ApiClient;
  shared: SharedWatches;
  address: string;
}

/** A node: its machine, and the agent that runs on it, which may die and come again. */
export class SimulatedNode {
  readonly plan: PlannedNode;
  readonly machine: SimulatedMachine;
  readonly address: string;
  private readonly options: SimulatedNodeOptions;
  private life: { lifecycle: Lifecycle; parts: NodeParts; api: NodeApi } | null = null;
  private networkCut = false;
  private ended = false;
  private changing: Promise<void> = Promise.resolve();

  constructor(options: SimulatedNodeOptions) {
    this.options = options;
    this.plan = options.node;
    this.machine = options.machine;
    this.address = options.address;
  }

  get name(): string {
    return this.plan.name;
  }

  /** The parts of the agent; null while none runs. */
  get parts(): NodeParts | null {
    return this.life?.parts ?? null;
  }

  /** Power off: the agent and all containers are gone without a word. */
  die(): Promise<void> {
    // At once, whatever is under way.
    this.life?.api.cut();
    return this.inTurn(async () => {
      await this.stopAgent();
      await this.machine.powerOff();
    });
  }

  /** Power on, or on again; nothing when the agent runs, or when the node has been ended. */
  comeBack(): Promise<void> {
    return this.inTurn(() => (this.ended || this.life !== null ? Promise.resolve() : this.startAgent()));
  }

  /** The network between the node and the API server. */
  setNetwork(up: boolean): void {
    this.networkCut = !up;
    if (up) this.life?.api.mend();
    else this.life?.api.cut();
  }

  /** Ends the agent and the machine, for good; the node's object stays. */
  end(): Promise<void> {
    this.ended = true;
    return this.inTurn(async () => {
      await this.stopAgent();
      await this.machine.end();
    });
  }

  private async startAgent(): Promise<void> {
    const { common, node, machine, address, shared } = this.options;
    const lifecycle = new Lifecycle(common.log);
    const api = new NodeApi(this.options.api, shared);
    if (this.networkCut) api.cut();
    const ground = simulatedGround(common, node, machine.facts.machine, address);
    mkdirSync(ground.rootDir, { recursive: true });
    const parts = buildNode(ground, simulatedEdges({ ground, machine, api, life: lifecycle }), lifecycle);
    machine.podOf = (uid) => trackedPod(parts.supervisor.context.pods, uid)?.pod;
    this.life = { lifecycle, parts, api };
    await lifecycle.start();
  }

  private async stopAgent(): Promise<void> {
    const { life } = this;
    this.life = null;
    await life?.lifecycle.stop();
    life?.api.close();
  }

  /** One change of power after the other: a node that comes back has died altogether. */
  private inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.changing.then(change);
    this.changing = done.catch(() => undefined);
    return done;
  }
}
