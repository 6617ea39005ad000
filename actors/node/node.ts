import { layGround } from './node-ground.ts';
import type { NodeOptions, RunningNode } from './node-options.ts';
import { keepHeapsSmall } from './small-heaps.ts';
import { startParts } from './start-order.ts';
import { stopParts } from './stop-order.ts';
import { wireParts } from './wire-parts.ts';

/**
 * Starts the node: what it stands on (`node-ground.ts`), what it is made of (`node-parts.ts`, `wire-parts.ts`), in the order
 * of `start-order.ts`. Rejects when the runtime does not answer or a port is taken.
 */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  keepHeapsSmall();
  const ground = await layGround(options);
  const parts = wireParts(ground);
  const started = await startParts(ground, parts);
  const { store, events, metrics, pool, supervisor } = parts;
  const { servers, inspector } = started;
  const stop = () => stopParts(ground, parts, started);
  return { inspector, store, events, metrics, pool, supervisor, servers, stop };
}
