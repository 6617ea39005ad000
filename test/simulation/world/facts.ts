import type { ContainerRecord, SandboxRecord } from '../../../cri/sim/records.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { PodMessage, PodSource } from '../../../machines/protocol/messages.ts';
import type { PodSnapshot } from '../../../machines/pod/pod-context.ts';
import type { PodReport } from '../../../actors/pods/shard/shard-protocol.ts';
import type { CsiRequest } from './storage/csi-request.ts';
import type { Owner } from './virtual-time.ts';

/** What truly happens in the world, in the order in which it does. Rules listen to it. */
export type Fact =
  | { f: 'container'; change: 'created' | 'started' | 'exited' | 'removed'; uid: string; record: ContainerRecord }
  | { f: 'sandbox'; change: 'made' | 'down' | 'removed'; uid: string; record: SandboxRecord }
  /** A call of the runtime that begins to act. */
  | {
      f: 'call';
      rpc: string;
      uid: string;
      request: object;
      container: ContainerRecord | undefined;
      sandbox: SandboxRecord | undefined;
    }
  /** The agent asks the runtime for an image, and is answered (or asks no more). `right`: what the pull is made with. */
  | { f: 'pull'; change: 'asked' | 'answered'; by: Owner; right: string }
  /** A worker begins to carry out an effect. */
  | { f: 'effect'; uid: string; effect: Effect }
  | { f: 'step'; uid: string; before: PodSnapshot; message: PodMessage; after: PodSnapshot; effects: Effect[] }
  | { f: 'report'; uid: string; report: PodReport; pod: Pod; source: PodSource | 'orphan' }
  /** The pod's machine has ended. */
  | { f: 'finished'; uid: string }
  /** Work on the host that was done. */
  | { f: 'host'; effect: string; uid: string }
  /** A pod of the API changed; `repeated`: by a request of the agent that was carried out a second time, later. */
  | { f: 'api'; type: 'ADDED' | 'MODIFIED' | 'DELETED'; pod: Pod; before: Pod | undefined; repeated: boolean }
  /** A plugin has made devices ready. */
  | { f: 'devices'; resource: string; ids: readonly string[] }
  /** A driver has prepared a claim, or taken it back. */
  | { f: 'claim'; change: 'prepared' | 'unprepared'; driver: string; claim: string }
  | { f: 'change'; what: string; uid: string; container: string }
  /** A shutdown of the machine is announced or called off, or a lock that held it up is given back. */
  | { f: 'logind'; change: 'prepare' | 'cancel' | 'released' }
  /** The agent is told what the node, and maybe its pods, use ({@link UsageEdge.told}). */
  | { f: 'usage' }
  /** A call of a CSI driver: the agent makes it, it truly comes to pass, the agent has its answer. `n`: of the driver's calls. */
  | (CsiRequest & { f: 'csi'; change: 'asked'; driver: string; n: number; by: Owner })
  | (CsiRequest & { f: 'csi'; change: 'acted'; driver: string; n: number })
  | (CsiRequest & { f: 'csi'; change: 'answered'; driver: string; n: number; by: Owner; code: string })
  | { f: 'attachment'; change: 'attached' | 'detached'; driver: string; handle: string }
  /** The machine has gone down: nothing is mounted any more. */
  | { f: 'boot' }
  | { f: 'agent'; change: 'started' | 'crashed' }
  | { f: 'worker'; change: 'crashed'; shard: number };
