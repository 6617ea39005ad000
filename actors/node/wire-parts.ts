import type { Logger } from 'pino';
import type { AdmissionGate } from '../resources/admission/admission-gate.ts';
import type { PodAllocations } from '../resources/admission/pod-allocations.ts';
import { EventRecorder } from '../cluster/events/event-recorder.ts';
import type { ImagePuller } from '../runtime/images/image-puller.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import type { ListedPod } from '../runtime/pleg/observe-pod.ts';
import type { Pleg } from '../runtime/pleg/pleg.ts';
import { RuntimeWatch } from '../runtime/runtime-state/runtime-watch.ts';
import type { ShardPool } from '../pods/shard/shard-pool.ts';
import type { PodSources } from '../pods/sources/pod-sources.ts';
import { PodStore } from '../pods/store/pod-store.ts';
import type { Supervisor } from '../pods/supervisor/supervisor.ts';
import type { UserNamespaces } from '../host/userns/user-namespaces.ts';
import { admissionOf, clusterOf } from './cluster-parts.ts';
import type { Cluster } from './cluster.ts';
import type { NodeGround } from './node-ground.ts';
import type { NodeParts } from './node-parts.ts';
import type { NodeState } from './node-state.ts';
import { PodIntake } from './pod-intake.ts';
import { PodMetrics } from './pod-metrics.ts';
import { allocationsOf, poolOf, supervisorOf } from './pod-parts.ts';
import { nodeStateOf, plegOf, pullerOf } from './runtime-parts.ts';

/** Makes all parts of a node; none of them does anything yet. Throws when the plugins' configuration is bad (IMG002 to IMG004). */
export function wireParts(ground: NodeGround): NodeParts {
  return new WiredParts(ground);
}

/** A class, for it can be named while its fields are still being filled. */
class WiredParts implements NodeParts {
  readonly log: Logger;
  readonly now: () => number;
  readonly metrics: Metrics;
  readonly podMetrics: PodMetrics;
  readonly supervisor: Supervisor;
  readonly pool: ShardPool;
  readonly store = new PodStore();
  readonly events: EventRecorder;
  readonly pleg: Pleg;
  readonly runtime: RuntimeWatch;
  listed: ReadonlyMap<string, ListedPod> = new Map();
  readonly puller: ImagePuller;
  readonly userNamespaces: UserNamespaces;
  readonly nodeState: NodeState;
  readonly cluster: Cluster | null;
  readonly admission: AdmissionGate | null;
  readonly allocations: PodAllocations;
  readonly intake: PodIntake;
  sources: PodSources | undefined;

  constructor(ground: NodeGround) {
    const { log, now, metrics, cri } = ground;
    this.log = log;
    this.now = now;
    this.metrics = metrics;
    this.podMetrics = new PodMetrics(metrics);
    this.userNamespaces = ground.userNamespaces;
    this.events = new EventRecorder(log);
    this.puller = pullerOf(ground, this);
    this.pleg = plegOf(ground, this);
    this.runtime = new RuntimeWatch({ cri, log, onChange: () => this.nodeState.runtimeChanged() });
    this.pool = poolOf(ground, this);
    this.supervisor = supervisorOf(ground, this);
    this.nodeState = nodeStateOf(ground, this);
    this.cluster = clusterOf(ground, this);
    this.admission = admissionOf(ground, this.cluster);
    this.allocations = allocationsOf(ground, this);
    const { supervisor, cluster, admission, allocations } = this;
    this.intake = new PodIntake({
      ...{ supervisor, cluster, admission, allocations, metrics, now },
      sources: () => this.sources,
    });
  }
}
