import type { NodeGround } from './node-ground.ts';
import type { NodeParts } from './node-parts.ts';
import type { StartedNode } from './start-order.ts';

/**
 * Ends a node; containers go on. First what gives the pods' actors work, then the actors, then what they told
 * things to; the way to the runtime last, since all of them may still be on it.
 */
export async function stopParts({ cri }: NodeGround, parts: NodeParts, started: StartedNode): Promise<void> {
  const { supervisor, pool, pleg, runtime, nodeState, cluster, allocations } = parts;
  const { sources, listening, eventStream, clock, resync, housekeeping, rotation, servers, inspector } = started;
  clock.stop();
  nodeState.stop();
  listening.abort();
  resync.stop();
  runtime.stop();
  pleg.stop();
  await Promise.all([
    sources.stop(),
    servers.close(),
    inspector?.stop(),
    rotation.stop(),
    housekeeping.stop(),
    cluster?.stop(),
  ]);
  await pool.stop();
  supervisor.close();
  allocations.stop();
  await eventStream;
  cri.close();
}
