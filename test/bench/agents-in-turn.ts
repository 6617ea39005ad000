import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unmountBelow } from '../../cri/private-containerd/mount-points.ts';
import { PAUSE_IMAGE } from '../../cri/private-containerd/own-images.ts';
import { startSimulatedRuntime } from '../../cri/sim/simulated-runtime.ts';
import type { SimulatedRuntime } from '../../cri/sim/simulated-runtime.ts';
import { clusterTool } from '../cluster/support/cluster-tool.ts';
import { ClusterNode } from '../cluster/support/cluster-node.ts';
import type { ControlPlane } from '../cluster/support/control-plane.ts';
import type { AgentKind } from '../cluster/support/node-config.ts';
import { CriCalls } from '../containerd/support/cri-calls.ts';
import { startTestContainerd } from '../containerd/support/with-containerd.ts';
import type { TestRuntime } from '../containerd/support/with-containerd.ts';

/** An agent that is measured, as `--agent NAME=PROGRAM` gives it. */
export interface NamedAgent {
  name: string;
  program: string;
  /** `kubelet=...` and names that begin with `kubelet-` are started as kubelet is. */
  kind: AgentKind;
}

/** Those of `--agent`; the reference kubelet and this checkout without it. */
export async function namedAgents(given: readonly string[] | undefined): Promise<NamedAgent[]> {
  const texts = given ?? [
    `kubelet=${await clusterTool('kubelet')}`,
    `actorlet=${join(import.meta.dirname, '../../bin/actorlet')}`,
  ];
  return texts.map((text) => {
    const [name = '', program = ''] = text.split('=', 2);
    return { name, program, kind: (/^kubelet(-|$)/.test(name) ? 'kubelet' : 'actorlet') as AgentKind };
  });
}

/** Has each agent measured in each round; tells figures on standard error as soon as a turn is over, and all on standard output. */
export async function allInTurn<F>(
  agents: readonly NamedAgent[],
  rounds: number,
  measure: (agent: NamedAgent, round: number) => Promise<F>,
): Promise<void> {
  const figures: Record<string, F[]> = {};
  for (let round = 0; round < rounds; round++)
    for (const agent of agents) {
      const measured = await measure(agent, round);
      (figures[agent.name] ??= []).push(measured);
      process.stderr.write(`${JSON.stringify({ [agent.name]: [measured] })}\n`);
    }
  process.stdout.write(`${JSON.stringify(figures, null, 1)}\n`);
}

/** What an agent's turn is made with. */
export interface TurnOptions {
  plane: ControlPlane;
  agent: NamedAgent;
  /** `simulated` or `containerd`. */
  on: string;
  round: number;
  /** Further fields of the configuration. */
  config?: Record<string, unknown>;
  env?: Record<string, string>;
}

/** Gives an agent's turn a runtime and a node of its own (made, not started), and removes both afterwards. */
export async function inTurn<F>(
  { plane, agent: { name, program, kind }, on, round, config, env }: TurnOptions,
  measure: (node: ClusterNode, sim: SimulatedRuntime | null) => Promise<F>,
): Promise<F> {
  const { runtime, sim, end } = await startRuntime(on);
  const node = await ClusterNode.make(plane, {
    ...{ name: `bench-${name.replaceAll('.', '-')}-${round}`, agent: kind, program },
    containerd: runtime,
    config: { syncFrequency: '1m', ...config },
    ...(env !== undefined && { env }),
  });
  try {
    const result = await measure(node, sim);
    await node.agent.terminate();
    await plane.api.delete(`/api/v1/nodes/${node.name}`);
    return result;
  } catch (error) {
    process.stderr.write(`${await node.explain()}\n`);
    throw error;
  } finally {
    await node.stop();
    await end();
  }
}

/** A runtime of an agent's own, and what it tells of itself. */
interface OwnRuntime {
  runtime: TestRuntime;
  sim: SimulatedRuntime | null;
  end: () => Promise<void>;
}

async function startRuntime(on: string): Promise<OwnRuntime> {
  if (on === 'containerd') {
    const runtime = await startTestContainerd();
    return { runtime, sim: null, end: () => runtime.stop() };
  }
  const rootDir = await mkdtemp(join(tmpdir(), 'actorlet-bench-'));
  const socket = join(rootDir, 'cri.sock');
  const images = [{ image: PAUSE_IMAGE, present: true }];
  const sim = await startSimulatedRuntime({ socket, script: { images }, seed: 1 });
  const endpoint = `unix://${socket}`;
  const cri = new CriCalls(endpoint);
  const end = async () => {
    cri.close();
    await sim.stop();
    // An agent whose root is not on a shared mount makes it one.
    await unmountBelow(rootDir);
    await rm(rootDir, { recursive: true, force: true });
  };
  return { runtime: { endpoint, rootDir, cri, stop: end }, sim, end };
}
