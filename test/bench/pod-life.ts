/**
 * A pod's life on the simulated runtime under a real API server: what it costs each agent in CPU, and every call to runtime and API server
 * that it takes, one by one. The agents run in turn; the containers cost nothing here, so what is left is the agent's own.
 *   bin/bench pod-life [--on simulated|containerd] [--agent NAME=PROGRAM ...] [--sequential 20] [--burst 50] [--idle 10] [--rounds 1] [--profile DIR] [--calls]
 * `--agent` names a program to measure (`kubelet=...` and names that begin with `kubelet-` are started as kubelet is), as often as wanted; this
 * checkout and the reference kubelet without it. `--calls` also lists the calls of one pod's life in their order; `--profile DIR`
 * leaves the CPU profiles of Node's threads there (docs/profile.md). Prints one JSON object, and
 * on standard error each turn's figures as soon as it is over. Needs root and what the test layer `cluster` needs; `test/tools/own-machine.sh bin/bench pod-life` keeps it apart from this machine's containers.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PAUSE_IMAGE } from '../../cri/private-containerd/own-images.ts';
import { startSimulatedRuntime } from '../../cri/sim/simulated-runtime.ts';
import type { SimulatedRuntime } from '../../cri/sim/simulated-runtime.ts';
import { ClusterNode } from '../cluster/support/cluster-node.ts';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import { clusterTool } from '../cluster/support/cluster-tool.ts';
import type { AgentKind } from '../cluster/support/node-config.ts';
import { CriCalls } from '../containerd/support/cri-calls.ts';
import { startTestContainerd } from '../containerd/support/with-containerd.ts';
import type { TestRuntime } from '../containerd/support/with-containerd.ts';
import { measureAgent } from './cluster-measure.ts';
import type { Figures } from './cluster-measure.ts';
import { onePodsCalls } from './one-pods-calls.ts';

const { values } = parseArgs({
  options: {
    on: { type: 'string', default: 'simulated' },
    agent: { type: 'string', multiple: true },
    sequential: { type: 'string', default: '20' },
    burst: { type: 'string', default: '50' },
    idle: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '1' },
    profile: { type: 'string' },
    calls: { type: 'boolean', default: false },
  },
});
const given = values.agent ?? [
  `kubelet=${await clusterTool('kubelet')}`,
  `actorlet=${join(import.meta.dirname, '../../bin/actorlet')}`,
];
const agents = given.map((text) => {
  const [name = '', program = ''] = text.split('=', 2);
  return { name, program, kind: (/^kubelet(-|$)/.test(name) ? 'kubelet' : 'actorlet') as AgentKind };
});

const plane = await ControlPlane.start({ audit: true });
const figures: Record<string, (Figures & { calls?: string[] })[]> = {};
try {
  for (let round = 0; round < Number(values.rounds); round++)
    for (const agent of agents) {
      const measured = await measure(agent, round);
      (figures[agent.name] ??= []).push(measured);
      process.stderr.write(`${JSON.stringify({ [agent.name]: [measured] })}\n`);
    }
  process.stdout.write(`${JSON.stringify(figures, null, 1)}\n`);
} finally {
  await plane.stop();
}

/** A runtime of an agent's own, and what it tells of itself. */
interface OwnRuntime {
  runtime: TestRuntime;
  sim: SimulatedRuntime | null;
  end: () => Promise<void>;
}

async function startRuntime(): Promise<OwnRuntime> {
  if (values.on === 'containerd') {
    const runtime = await startTestContainerd();
    return { runtime, sim: null, end: () => runtime.stop() };
  }
  const rootDir = await mkdtemp(join(tmpdir(), 'actorlet-life-'));
  const socket = join(rootDir, 'cri.sock');
  const images = [{ image: PAUSE_IMAGE, present: true }];
  const sim = await startSimulatedRuntime({ socket, script: { images }, seed: 1 });
  const endpoint = `unix://${socket}`;
  const cri = new CriCalls(endpoint);
  const end = async () => {
    cri.close();
    await sim.stop();
    await rm(rootDir, { recursive: true, force: true });
  };
  return { runtime: { endpoint, rootDir, cri, stop: end }, sim, end };
}

/** One agent's turn, on a runtime and a node of its own. */
async function measure(
  { name, program, kind }: { name: string; program: string; kind: AgentKind },
  round: number,
): Promise<Figures & { calls?: string[] }> {
  const { runtime, sim, end } = await startRuntime();
  const profiles = values.profile === undefined ? null : join(values.profile, `${name}-${round}`);
  if (profiles !== null) await mkdir(profiles, { recursive: true });
  const node = await ClusterNode.make(plane, {
    ...{ name: `life-${name.replaceAll('.', '-')}-${round}`, agent: kind, program },
    containerd: runtime,
    config: { syncFrequency: '1m' },
    ...(profiles !== null && {
      env: { NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=500 --cpu-prof-dir=${profiles}` },
    }),
  });
  try {
    const result = await measureAgent(plane, node, {
      sequential: Number(values.sequential),
      burst: Number(values.burst),
      idleSeconds: Number(values.idle),
      ...(sim !== null && { runtimeCalls: () => sim.state.calls.counts }),
    });
    const calls = values.calls && sim !== null ? { calls: await onePodsCalls(plane, node, sim) } : {};
    await node.agent.terminate();
    await plane.api.delete(`/api/v1/nodes/${node.name}`);
    return { ...result, ...calls };
  } catch (error) {
    process.stderr.write(`${await node.explain()}\n`);
    throw error;
  } finally {
    await node.stop();
    await end();
  }
}
