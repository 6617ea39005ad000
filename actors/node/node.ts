import { log as logCheck, ping } from '../serve/server/health-checks.ts';
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
    const { store, events, metrics, shards, supervisor, conditions, resync } = parts;
    // Those of kubelet's watchdog, and the shards, which it does not have. Whoever asks is the main thread's: it moves.
    const moves = [
      ping,
      logCheck,
      { name: 'syncloop', check: () => resync.late() },
      { name: 'shards', check: () => shards.unhealthy() },
    ];
    const { inspector, servers } = fronts;
    if (servers === null) throw new Error('the servers were not started');
    const told = { inspector, store, events, metrics, shards, supervisor, conditions, servers, moves };
    return { ...told, stop: () => life.stop() };
  } catch (error) {
    await life.stop();
    throw error;
  }
}
