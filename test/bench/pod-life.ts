/**
 * A pod's life on the simulated runtime under a real API server: what it costs each agent in CPU, and every call to runtime and API server
 * that it takes, one by one. The agents run in turn; the containers cost nothing here, so what is left is the agent's own.
 *   bin/bench pod-life [--on simulated|containerd] [--agent NAME=PROGRAM ...] [--warm 1] [--sequential 20] [--burst 50] [--settle 15] [--idle 10] [--rounds 1] [--profile DIR] [--calls]
 * `--agent` names a program to measure (`kubelet=...` and names that begin with `kubelet-` are started as kubelet is), as often as wanted; this
 * checkout and the reference kubelet without it. `--warm` pods are made and removed before anything is measured: many, and it is an agent that has
 * run for long. `--settle` is how many seconds after the burst the node counts as idle, `--idle` how many seconds of that are measured. `--calls` also lists the calls of one pod's life in their order; `--profile DIR`
 * leaves the CPU profiles of Node's threads there (docs/profile.md). Prints one JSON object, and
 * on standard error each turn's figures as soon as it is over. Needs root and what the test layer `cluster` needs; `test/tools/own-machine.sh bin/bench pod-life` keeps it apart from this machine's containers.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import { allInTurn, inTurn, namedAgents } from './agents-in-turn.ts';
import type { NamedAgent } from './agents-in-turn.ts';
import { measureAgent } from './cluster-measure.ts';
import type { Figures } from './cluster-measure.ts';
import { onePodsCalls } from './one-pods-calls.ts';

const { values } = parseArgs({
  options: {
    on: { type: 'string', default: 'simulated' },
    agent: { type: 'string', multiple: true },
    warm: { type: 'string', default: '1' },
    sequential: { type: 'string', default: '20' },
    burst: { type: 'string', default: '50' },
    settle: { type: 'string', default: '15' },
    idle: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '1' },
    profile: { type: 'string' },
    calls: { type: 'boolean', default: false },
  },
});
const agents = await namedAgents(values.agent);
const plane = await ControlPlane.start({ audit: true });
try {
  await allInTurn(agents, Number(values.rounds), measure);
} finally {
  await plane.stop();
}

/** One agent's turn. */
async function measure(agent: NamedAgent, round: number): Promise<Figures & { calls?: string[] }> {
  const profiles = values.profile === undefined ? null : join(values.profile, `${agent.name}-${round}`);
  if (profiles !== null) await mkdir(profiles, { recursive: true });
  const env: Record<string, string> =
    profiles === null ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=500 --cpu-prof-dir=${profiles}` };
  return inTurn({ plane, agent, on: values.on, round, env }, async (node, sim) => {
    const result = await measureAgent(plane, node, {
      warm: Number(values.warm),
      sequential: Number(values.sequential),
      burst: Number(values.burst),
      settleSeconds: Number(values.settle),
      idleSeconds: Number(values.idle),
      ...(sim !== null && { runtimeCalls: () => sim.state.calls.counts }),
    });
    const calls = values.calls && sim !== null ? { calls: await onePodsCalls(plane, node, sim) } : {};
    return { ...result, ...calls };
  });
}
