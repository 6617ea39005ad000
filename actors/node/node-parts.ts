import type { Logger } from 'pino';
import type { AdmissionGate } from '../resources/admission/admission-gate.ts';
import type { PodAllocations } from '../resources/admission/pod-allocations.ts';
import type { EventRecorder } from '../cluster/events/event-recorder.ts';
import type { ImagePuller } from '../runtime/images/image-puller.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import type { ListedPod } from '../runtime/pleg/observe-pod.ts';
import type { Pleg } from '../runtime/pleg/pleg.ts';
import type { RuntimeWatch } from '../runtime/runtime-state/runtime-watch.ts';
import type { ShardPool } from '../pods/shard/shard-pool.ts';
import type { PodSources } from '../pods/sources/pod-sources.ts';
import type { PodStore } from '../pods/store/pod-store.ts';
import type { Supervisor } from '../pods/supervisor/supervisor.ts';
import type { UserNamespaces } from '../host/userns/user-namespaces.ts';
import type { Cluster } from './cluster.ts';
import type { NodeState } from './node-state.ts';
import type { PodIntake } from './pod-intake.ts';
import type { PodMetrics } from './pod-metrics.ts';

/**
 * What a node is made of. Parts tell each other things, so each reaches the others through this when it has something to
 * tell, never while they are made ({@link wireParts} makes them, `start-order.ts` starts them, `stop-order.ts` ends them).
 */
export interface NodeParts {
  readonly log: Logger;
  readonly now: () => number;
  readonly metrics: Metrics;
  readonly podMetrics: PodMetrics;

  /** Decides which pods have an actor, and where. */
  readonly supervisor: Supervisor;
  /** The worker threads in which the pods' actors live. */
  readonly pool: ShardPool;
  /** Pods with their newest status, for the servers and for whoever embeds the node. */
  readonly store: PodStore;
  readonly events: EventRecorder;

  /** Looks at what the runtime has of each pod. */
  readonly pleg: Pleg;
  /** Is the runtime there? */
  readonly runtime: RuntimeWatch;
  /** What the runtime's last list held, by pod. */
  listed: ReadonlyMap<string, ListedPod>;
  readonly puller: ImagePuller;
  readonly userNamespaces: UserNamespaces;
  /** Hosts the node's own machine. */
  readonly nodeState: NodeState;

  /** All that needs an API server; null on a standalone node, as is the admission that asks for the node's object. */
  readonly cluster: Cluster | null;
  readonly admission: AdmissionGate | null;
  /** Resources that pods were given. */
  readonly allocations: PodAllocations;
  /** The way of pods from the sources to the supervisor. */
  readonly intake: PodIntake;
  /** Undefined until they are started, when one of them may have spoken already. */
  sources: PodSources | undefined;
}
