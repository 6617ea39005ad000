import { trackedPod } from '../../machines/supervisor/pod-table.ts';
import { buildNode } from '../node/build-node.ts';
import type { NodeParts } from '../node/build-node.ts';
import { Lifecycle } from '../node/lifecycle.ts';
import type { ApiClient } from '../cluster/api/api-client.ts';
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

  /** The agent starts. */
  async start(): Promise<void> {
    const { common, node, machine, address, shared } = this.options;
    const lifecycle = new Lifecycle(common.log);
    const api = new NodeApi(this.options.api, shared);
    if (this.networkCut) api.cut();
    const ground = simulatedGround(common, node, machine.facts.machine, address);
    const parts = buildNode(ground, simulatedEdges({ ground, machine, api, life: lifecycle }), lifecycle);
    machine.podOf = (uid) => trackedPod(parts.supervisor.context.pods, uid)?.pod;
    this.life = { lifecycle, parts, api };
    await lifecycle.start();
  }

  /** The agent ends; its object stays, and containers go on. */
  async stop(): Promise<void> {
    const { life } = this;
    this.life = null;
    await life?.lifecycle.stop();
    life?.api.close();
  }

  /** Power off: the agent and all containers are gone without a word. */
  async die(): Promise<void> {
    this.life?.api.cut();
    await this.stop();
    this.machine.powerOff();
  }

  /** Power on again, unless the node has been ended. */
  async comeBack(): Promise<void> {
    if (!this.ended && this.life === null) await this.start();
  }

  /** The network between the node and the API server. */
  setNetwork(up: boolean): void {
    this.networkCut = !up;
    if (up) this.life?.api.mend();
    else this.life?.api.cut();
  }

  /** Ends the agent and the machine, for good. */
  async end(): Promise<void> {
    this.ended = true;
    await this.stop();
    this.machine.runtime.stop();
  }
}
