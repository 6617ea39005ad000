/**
 * Pods of a real cluster, the reference kubelet and actorlet one after the other in one run, on the same containerd and
 * the same control plane; times are those that a watch on the API server sees, pods are bound by hand.
 *   bin/bench cluster [--sequential 12] [--burst 50] [--idle 20] [--only actorlet|kubelet]
 * Prints one JSON object with both agents' figures and their ratios; compare within one run only. Needs root and what
 * the test layers `containerd` and `cluster` need.
 */
import { parseArgs } from 'node:util';
import type { ClusterNode } from '../cluster/support/cluster-node.ts';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import type { Figures } from './cluster-measure.ts';
import { measureBothAgents } from './both-agents.ts';
import { measureAgent } from './cluster-measure.ts';
import { ratio } from './figures.ts';

const { values } = parseArgs({
  options: {
    sequential: { type: 'string', default: '12' },
    burst: { type: 'string', default: '50' },
    idle: { type: 'string', default: '20' },
    only: { type: 'string' },
  },
});
const wish = {
  sequential: Number(values.sequential),
  burst: Number(values.burst),
  idleSeconds: Number(values.idle),
};

/** Aims of the ratio actorlet / kubelet, by its name in the output. */
const RATIOS: readonly [string, number | null, (figures: Figures) => number][] = [
  ['create to Ready p50', 0.35, (f) => f.sequential.createToReadyMs.p50],
  ['create to Ready p90', 0.35, (f) => f.sequential.createToReadyMs.p90],
  ['delete to gone p50', 0.35, (f) => f.sequential.deleteToGoneMs.p50],
  ['delete to gone p90', 0.35, (f) => f.sequential.deleteToGoneMs.p90],
  ['burst all ready', 0.7, (f) => f.burst.allReadyMs],
  ['burst all gone', 0.7, (f) => f.burst.allGoneMs],
  ['CPU per pod start, one by one', 1, (f) => f.sequential.cpuMsPerPodStart],
  ['CPU per pod start, burst', 1, (f) => f.burst.cpuMsPerPodStart],
  ['CPU per pod life, one by one', null, (f) => f.sequential.cpuMsPerPodLife],
  ['idle CPU', 1, (f) => f.idle.cpuPercent],
  ['RSS', 1.5, (f) => f.rssMiB.burst],
  ['API calls per pod life, one by one', 1, (f) => f.sequential.callsPerPodLife.all],
  ['API calls per pod life, burst', 1, (f) => f.burst.callsPerPodLife.all],
  ['agent start to node Ready', null, (f) => f.agentStartToNodeReadyMs],
];

/**
 * One start before the measured one, for both agents alike: files come into the page cache, and Node keeps the compiled
 * code of actorlet's sources (an installed package has JavaScript from the start).
 */
async function warmUp(plane: ControlPlane, node: ClusterNode): Promise<void> {
  const agent = await node.startAgent();
  await node.waitReady();
  await agent.terminate();
  // The measured start registers anew.
  await plane.api.delete(`/api/v1/nodes/${node.name}`);
}

const plane = await ControlPlane.start({ audit: true });
try {
  const figures = await measureBothAgents({
    ...{ plane, only: values.only },
    config: (agent) => (agent === 'kubelet' ? { syncFrequency: '1m' } : {}),
    measure: async (node): Promise<Figures> => {
      await warmUp(plane, node);
      return measureAgent(plane, node, wish);
    },
  });
  const { kubelet, actorlet } = figures;
  const ratios =
    kubelet === undefined || actorlet === undefined
      ? null
      : Object.fromEntries(
          RATIOS.map(([name, aim, of]) => [name, { 'actorlet / kubelet': ratio(of(actorlet), of(kubelet)), aim }]),
        );
  process.stdout.write(`${JSON.stringify({ ...figures, ratios }, null, 1)}\n`);
} finally {
  await plane.stop();
}
