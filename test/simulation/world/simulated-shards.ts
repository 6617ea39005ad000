import type { Logger } from 'pino';
import type { ShardHost, ShardLinks } from '../../../actors/node/edges.ts';
import type { ToShard } from '../../../actors/pods/shard/shard-protocol.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { Edges } from './edges.ts';
import type { Owner } from './virtual-time.ts';
import { PORT_MS, Worker } from './worker.ts';

/** What the workers of one agent are made from. */
export interface SimulatedShardsOptions extends ShardLinks {
  /** The agent. */
  owner: Owner;
  edges: Edges;
  shards: number;
  settings: NodeSettings;
  journalDir: string;
  log: Logger;
  mortal: (effect: Effect) => 'before' | 'after' | null;
  /** The agent has died of itself. */
  died: () => void;
}

/** Time until a dead worker is noticed and until the next one has loaded, ms. */
const NOTICED_MS = 700;
const LOADED_MS = 200;

/** Worker threads without threads; each can die and be replaced, as `ShardPool` does it. */
export class SimulatedShards implements ShardHost {
  private readonly options: SimulatedShardsOptions;
  private readonly workers: Worker[] = [];
  private made = 0;

  constructor(options: SimulatedShardsOptions) {
    this.options = options;
  }

  start(): Promise<void> {
    for (let shard = 0; shard < this.options.shards; shard++) this.launch(shard);
    return Promise.resolve();
  }

  post(shard: number, message: ToShard): void {
    this.workers[shard]?.post(message);
  }

  /** Their ends are the plan's affair. */
  unhealthy(): null {
    return null;
  }

  setVerbosity(): void {
    // Nobody reads what they log.
  }

  stop(): Promise<void> {
    this.killAll();
    return Promise.resolve();
  }

  /** All threads are no more, as when their process dies. */
  killAll(): void {
    for (const worker of this.workers) worker.kill();
  }

  /** A worker thread dies; main notices and starts another. */
  kill(shard: number): void {
    const { edges, owner, onReplaced } = this.options;
    const worker = this.workers[shard];
    if (worker === undefined || !worker.owner.alive) return;
    worker.kill();
    edges.tell({ f: 'worker', change: 'crashed', shard });
    const loaded = (): void => onReplaced(shard);
    const noticed = (): void => {
      this.launch(shard);
      edges.time.after(LOADED_MS, owner, loaded, false);
    };
    edges.time.after(NOTICED_MS, owner, noticed, false);
  }

  private launch(shard: number): void {
    const { owner, edges, onMessage, settings, journalDir, log, mortal, died } = this.options;
    this.workers[shard] = new Worker({
      ...{ shard, edges, settings, journalDir, log, mortal, die: died },
      name: `${owner.name}/shard-${shard}.${++this.made}`,
      send: (message) => edges.time.after(PORT_MS, owner, () => onMessage(shard, message), false),
    });
  }
}
