import type { ApiEdge } from './api-edge.ts';
import type { Fact } from './facts.ts';
import type { FaultClock } from './fault-clock.ts';
import type { HostEdge } from './host-edge.ts';
import type { LogindOfWorld } from './logind-edge.ts';
import type { Says } from './network-edge.ts';
import type { NodeApiEdge } from './node-api-edge.ts';
import type { PluginsEdge } from './plugins-edge.ts';
import type { Random } from './random.ts';
import type { RuntimeEdge } from './runtime-edge.ts';
import type { StorageEdge } from './storage/storage-edge.ts';
import type { UsageEdge } from './usage-edge.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Everything around the agent. */
export interface Edges {
  time: VirtualTime;
  faults: FaultClock;
  random: Random;
  runtime: RuntimeEdge;
  host: HostEdge;
  api: ApiEdge;
  nodes: NodeApiEdge;
  usage: UsageEdge;
  logind: LogindOfWorld;
  plugins: PluginsEdge;
  /** Of nodes with CSI drivers; null on others. */
  storage: StorageEdge | null;
  says: Says;
  /** Static pods as their files have them now. */
  files: () => readonly string[];
  tell: (fact: Fact) => void;
}
