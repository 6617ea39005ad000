import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unmountBelow } from '../../cri/private-containerd/mount-points.ts';
import { startSimulatedRuntime } from '../../cri/sim/simulated-runtime.ts';
import type { SimulatedRuntime } from '../../cri/sim/simulated-runtime.ts';
import type { ContainerRecord, SandboxRecord } from '../../cri/sim/records.ts';
import type { SimScript } from '../../cri/sim/script.ts';
import { CriCalls } from '../containerd/support/cri-calls.ts';
import { stopOnSignal } from '../cluster/support/end-with-test.ts';
import { ClusterNode } from '../cluster/support/cluster-node.ts';
import type { ClusterNodeOptions } from '../cluster/support/cluster-node.ts';
import type { ControlPlane } from '../cluster/support/control-plane.ts';
import type { AgentKind } from '../cluster/support/node-config.ts';

/** How often the runtime is looked at, ms: what was made and removed between two looks is not seen. */
const LOOK_MS = 25;

/** A node of a real control plane whose runtime is simulated, and all that its agent ever asked this runtime for. */
export class SimulatedNode {
  readonly node: ClusterNode;
  readonly runtime: SimulatedRuntime;
  /** Every sandbox and container there was, in the order of their making. */
  readonly sandboxes = new Map<string, SandboxRecord>();
  readonly containers = new Map<string, ContainerRecord>();
  readonly #looking: NodeJS.Timeout;
  readonly #ground: Ground;
  readonly #forget: () => void;

  private constructor(node: ClusterNode, ground: Ground) {
    this.node = node;
    this.runtime = ground.runtime;
    this.#ground = ground;
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
    this.#forget = stopOnSignal(() => this.stop());
  }

  /** Starts runtime and agent; resolves when the node is ready. The caller stops it. */
  static async start(
    plane: ControlPlane,
    name: string,
    agent: AgentKind,
    script: SimScript,
    more: Pick<ClusterNodeOptions, 'config' | 'env' | 'flags' | 'ownDevicePlugins'> = {},
  ): Promise<SimulatedNode> {
    const ground = await makeGround(script);
    try {
      const { folder, cri } = ground;
      const containerd = { endpoint: cri.endpoint, rootDir: folder, cri, stop: () => Promise.resolve() };
      const config = { syncFrequency: '1m', ...more.config };
      return new SimulatedNode(await ClusterNode.start(plane, { ...more, name, agent, containerd, config }), ground);
    } catch (error) {
      await removeGround(ground);
      throw error;
    }
  }

  #look(): void {
    // As it was asked for: a resize of its pod changes the runtime's own.
    for (const [id, record] of this.runtime.state.sandboxes)
      if (!this.sandboxes.has(id)) this.sandboxes.set(id, { ...record, config: structuredClone(record.config) });
    for (const [id, record] of this.runtime.state.containers) this.containers.set(id, record);
  }

  /** Takes all static pods away. */
  async removeManifests(): Promise<void> {
    for (const file of await readdir(this.node.manifests)) await this.node.removeManifest(file);
  }

  /** Ends agent and runtime and removes what they had. */
  async stop(): Promise<void> {
    this.#forget();
    clearInterval(this.#looking);
    await this.node.stop();
    await removeGround(this.#ground);
  }
}

/** What a node stands on: a folder, and a runtime whose socket is in it. */
interface Ground {
  folder: string;
  runtime: SimulatedRuntime;
  cri: CriCalls;
}

async function makeGround(script: SimScript): Promise<Ground> {
  const folder = await mkdtemp(join(tmpdir(), 'beside-'));
  const socket = join(folder, 'sim.sock');
  const own = { ...script, runtime: { ...script.runtime, imageFilesystem: { mountpoint: folder } } };
  return {
    folder,
    runtime: await startSimulatedRuntime({ socket, script: own }),
    cri: new CriCalls(`unix://${socket}`),
  };
}

async function removeGround({ folder, runtime, cri }: Ground): Promise<void> {
  cri.close();
  await runtime.stop();
  await unmountBelow(folder);
  await rm(folder, { recursive: true, force: true });
}
