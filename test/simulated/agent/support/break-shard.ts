import type { Piscina } from 'piscina';
import { startThreads } from '../../../../actors/pods/shard/shard-pool.ts';
import type { ShardHost } from '../../../../actors/node/edges.ts';
import type { ToShard } from '../../../../actors/pods/shard/shard-protocol.ts';

/** An order that only the threads of {@link breakableThreads} know: an endless loop, or the end of the thread. */
export interface Break {
  t: 'break';
  how: 'loop' | 'exit';
}

/** Worker threads for a node whose shards can be broken. */
export function breakableThreads(shards: number): Piscina {
  return startThreads(shards, new URL('./breakable-shard.ts', import.meta.url));
}

/** Breaks a shard's thread; the pool must notice by itself. */
export function breakShard(shards: Pick<ShardHost, 'post'>, shard: number, how: Break['how']): void {
  shards.post(shard, { t: 'break', how } satisfies Break as unknown as ToShard);
}
