import { buildNode } from './build-node.ts';
import { Lifecycle } from './lifecycle.ts';
import type { NodeOptions, RunningNode } from './node-options.ts';
import { openNode } from './real-edges.ts';

/**
 * Starts the node: opens the ways to machine, runtime and cluster (`real-edges.ts`), makes its parts over them
 * (`build-node.ts`) and starts these in order. Rejects when the runtime does not answer or a port is taken; nothing of the
 * node is left then.
 */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const life = new Lifecycle(options.log);
  try {
    const { ground, edges, fronts } = await openNode(options, life);
    const parts = buildNode(ground, edges, life);
    await life.start();
    const { store, events, metrics, shards, supervisor, conditions } = parts;
    const { inspector, servers } = fronts;
    if (servers === null) throw new Error('the servers were not started');
    return { inspector, store, events, metrics, shards, supervisor, conditions, servers, stop: () => life.stop() };
  } catch (error) {
    await life.stop();
    throw error;
  }
}
