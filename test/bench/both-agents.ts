import { ClusterNode } from '../cluster/support/cluster-node.ts';
import type { ControlPlane } from '../cluster/support/control-plane.ts';
import type { AgentKind } from '../cluster/support/node-config.ts';
import { withContainerd } from '../containerd/support/with-containerd.ts';
import { ratio } from './figures.ts';

/** What both agents are measured with. */
export interface BothAgentsOptions<F> {
  plane: ControlPlane;
  /** `--only`: one of them; both when absent. */
  only: string | undefined;
  /** Further fields of an agent's configuration. */
  config?: (agent: AgentKind) => Record<string, unknown>;
  /** Starts the agent of the node, which is made but not started, and measures it. */
  measure: (node: ClusterNode) => Promise<F>;
}

/** Both agents' figures and their ratios, by the names of these, as one JSON object; null when one agent was measured only. */
export function withRatios<F>(
  figures: Partial<Record<AgentKind, F>>,
  ratios: readonly (readonly [name: string, of: (figures: F) => number])[],
): string {
  const { kubelet, actorlet } = figures;
  const both =
    kubelet === undefined || actorlet === undefined
      ? null
      : Object.fromEntries(ratios.map(([name, of]) => [name, ratio(of(actorlet), of(kubelet))]));
  return `${JSON.stringify({ ...figures, 'actorlet / kubelet': both }, null, 1)}\n`;
}

/** Measures the reference, then actorlet, one after the other on the same containerd and control plane. */
export function measureBothAgents<F>(options: BothAgentsOptions<F>): Promise<Partial<Record<AgentKind, F>>> {
  const { plane, only, config, measure } = options;
  return withContainerd(async (containerd) => {
    const figures: Partial<Record<AgentKind, F>> = {};
    for (const agent of ['kubelet', 'actorlet'] as const) {
      if (only !== undefined && only !== agent) continue;
      const node = await ClusterNode.make(plane, {
        ...{ name: `bench-${agent}`, agent, containerd, config: config?.(agent) ?? {} },
      });
      try {
        figures[agent] = await measure(node);
        await node.agent.terminate();
        await plane.api.delete(`/api/v1/nodes/${node.name}`);
      } catch (error) {
        process.stderr.write(`${await node.explain()}\n`);
        throw error;
      } finally {
        await node.stop();
      }
    }
    return figures;
  });
}
