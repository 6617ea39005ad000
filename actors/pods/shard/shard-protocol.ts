import type { MessagePort } from 'node:worker_threads';
import type { EffectCatalog } from '../../../machines/protocol/effects.ts';
import type { Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import type { PodMemory } from '../../../machines/protocol/memory.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { LoggerOptions } from '../../record/logging/create-logger.ts';
import type { TracingOptions } from '../../record/tracing/spans.ts';
import type { Observation } from '../../record/metrics/observation.ts';
import type { AskCatalog, AskType } from '../../../machines/protocol/ask.ts';

/** What a worker is started with; plain data and a port. */
export interface ShardTask {
  shard: number;
  port: MessagePort;
  /** What main sees of the worker when it does not answer (`WorkMarks`). */
  marks: SharedArrayBuffer;
  /** The worker before it died, and no pod could be blamed: this one watches more closely for a while. */
  careful: boolean;
  settings: NodeSettings;
  endpoint: string;
  imageEndpoint: string;
  containerLogsDir: string;
  journal: { dir: string; maxBytes: number; agent: string } | null;
  log: LoggerOptions;
  /** Absent: no traces are made. */
  tracing?: TracingOptions;
}

/** Effects that the main thread carries out for a shard: they need one queue for the whole node. */
export type CentralEffect = 'image.Pull';

/** Main -> shard. */
export type ToShard =
  | { t: 'pod'; uid: string; message: PodMessage }
  | {
      t: 'result';
      uid: string;
      key: string;
      effect: CentralEffect;
      result?: EffectCatalog[CentralEffect]['result'];
      error?: { code: string; message: string };
    }
  /** Answers the shard's question of this id; may hold secrets, so it is neither journaled nor logged. */
  | { t: 'answer'; id: string; result?: AskCatalog[AskType]['result']; error?: { code: string; message: string } }
  /** `--v` was changed while the agent runs. */
  | { t: 'verbosity'; level: number }
  | { t: 'stop' };

/** A pod's report as it leaves the shard. */
export interface PodReport {
  uid: string;
  status: PodStatus;
  state: string;
  why: string;
  /** Null: it has no machine, and none before has told any. */
  memory: PodMemory | null;
}

/** A Kubernetes event about a pod. */
export interface PodEventReport {
  uid: string;
  namespace: string;
  name: string;
  at: number;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  fieldPath?: string;
}

/** Shard -> main. */
export type FromShard =
  | { t: 'ready'; thread: number | null }
  | { t: 'report'; report: PodReport }
  | { t: 'event'; event: PodEventReport }
  | { t: 'observe'; uid: string }
  | { t: 'finished'; uid: string; pod: Pod }
  | { t: 'effect'; uid: string; key: string; effect: CentralEffect; params: EffectCatalog[CentralEffect]['params'] }
  /** A question (ask.ts); main answers each with an `answer` of the same id. */
  | { [T in AskType]: { t: 'ask'; id: string; what: T; params: AskCatalog[T]['params'] } }[AskType]
  | { t: 'metrics'; batch: Observation[] }
  /** How many volumes of each plugin are set up in the shard's pods, when that has changed. */
  | { t: 'volumes'; mounted: Record<string, number> }
  /** The machine threw on a message; the pod keeps its state. */
  | { t: 'fault'; uid: string; message: string };
