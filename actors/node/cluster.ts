import type { Logger } from 'pino';
import type { StaticLife } from '../../machines/mirror-pods/mirror-plan.ts';
import type { Node } from '../../machines/node-object/node-types.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { PodSource } from '../../machines/protocol/messages.ts';
import type { ApiClient } from '../cluster/api/api-client.ts';
import { ResourceClaims } from '../cluster/objects/resource-claims.ts';
import { MirrorPods } from '../cluster/mirror-pods/mirror-pods.ts';
import { StatusManager } from '../cluster/status/status-manager.ts';
import type { PodReport } from '../pods/shard/shard-protocol.ts';
import type { Clock } from '../host/time/clock.ts';
import type { JournalSettings } from '../record/journal/machine-journal.ts';
import { tellEach } from '../record/logging/tell-each.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import { PodStartLatency } from '../record/metrics/pod-start-latency.ts';
import type { ObjectsEnd } from './cluster-objects.ts';
import { watchPodsOfNode } from './pods-of-node.ts';

/** The node's own object and its lease. */
export interface NodeEnd {
  /** Begins to register. */
  start(): void;
  /** The latest version of the object; null before it is known and after it is deleted. Not to be changed. */
  node(): Node | null;
  /** Resolves when the object is there; never when the agent stops before. */
  whenRegistered(): Promise<void>;
  /** Runtime, network, PLEG or a manager's condition changed: the status is told at once. */
  changed(): void;
  /** Nothing that changed waits to be told. */
  told(): boolean;
  /** It was told a first time, or that could not be done, or has taken too long. */
  hasSpoken(): boolean;
  /** Closes journals without a word, as a death does. */
  close(): void;
  stop(): Promise<void>;
}

/** What the parts of the node have to do with a cluster. */
export interface ClusterLinks {
  /** All pods that the API server binds to this node, mirror pods left out. */
  onPods: (pods: () => Pod[], changed?: Pod) => void;
  /** How far a static pod's life is. */
  lifeOf: (uid: string) => StaticLife;
}

/** What the cluster's side of the node works with. */
export interface ClusterOptions extends ClusterLinks {
  /** Without limits, for what nobody may wait for. */
  api: ApiClient;
  /** With the limits of `kubeAPIQPS`. */
  limited: ApiClient;
  node: NodeEnd;
  objects: ObjectsEnd;
  nodeName: string;
  log: Logger;
  metrics: Metrics;
  clock: Clock;
  /** Where the status manager's messages are journaled; absent with `--no-journal`. */
  journal?: JournalSettings;
}

/**
 * Everything that a node does with an API server: the pods that are bound to it, their statuses and mirror pods, its own
 * object, and the objects that pods use.
 */
export class Cluster {
  readonly node: NodeEnd;
  readonly objects: ObjectsEnd;
  readonly claims: ResourceClaims;
  /** How long pods take to start. */
  readonly starts: PodStartLatency;
  private readonly api: ApiClient;
  private readonly nodeName: string;
  private readonly status: StatusManager;
  private readonly mirrors: MirrorPods;
  private readonly pods: ReturnType<typeof watchPodsOfNode>;
  private stopped = false;

  constructor(options: ClusterOptions) {
    const { api, limited, node, objects, nodeName, log, metrics, clock, onPods, lifeOf, journal } = options;
    const { now, steady } = clock;
    this.api = api;
    this.claims = new ResourceClaims(limited, nodeName);
    this.node = node;
    this.objects = objects;
    this.nodeName = nodeName;
    this.starts = new PodStartLatency(metrics, now);
    const onPatched = (pod: Pod) => this.starts.statusUpdated(pod);
    this.status = new StatusManager({ api: limited, nodeName, log, now, clock, metrics, onPatched, journal });
    this.mirrors = new MirrorPods({ api: limited, nodeName, log, steady, node: () => node.node(), lifeOf });
    this.pods = watchPodsOfNode({
      ...{ api: limited, nodeName, log, onPods },
      onList: (pods) => {
        tellEach(log, 'pods of the node', {
          status: () => this.status.setApiPods(pods),
          mirrors: () => this.mirrors.setApi(pods),
        });
        for (const pod of pods) tellEach(log, 'a pod of the node', { starts: () => this.starts.observed(pod) });
      },
      onPod: (pod, gone) => {
        const uid = pod.metadata?.uid ?? '';
        tellEach(log, 'a pod of the node', {
          status: () => (gone ? this.status.apiPodGone(uid) : this.status.apiPod(pod)),
          mirrors: () => (gone ? this.mirrors.apiPodGone(uid) : this.mirrors.apiPod(pod)),
          starts: () => (gone ? this.starts.forget(uid) : this.starts.observed(pod)),
        });
      },
    });
  }

  /** Removes the node's ResourceSlices, of one driver or of all. Rejects while the node is not registered. */
  async wipeSlices(driver: string | null): Promise<void> {
    if (this.node.node() === null) throw new Error('the node is not registered');
    await this.claims.wipeSlices(driver);
  }

  /** Begins to register, and to watch pods once the own Node is known: admission needs it (kubelet waits likewise). */
  start(): void {
    this.node.start();
    this.objects.start();
    void this.node.whenRegistered().then(() => {
      if (this.stopped) return;
      this.pods.start();
      this.mirrors.look();
    });
  }

  /** The own Node as the API server has it this moment; null when it cannot be asked. */
  async freshNode(): Promise<Node | null> {
    const on = { group: '', version: 'v1', resource: 'nodes' };
    return this.api.request<Node>({ method: 'GET', on, name: this.nodeName }).catch(() => null);
  }

  /** All static pods; `complete` once each source has spoken. */
  staticPods(pods: readonly Pod[], complete: boolean): void {
    this.mirrors.setStatic(pods, complete);
  }

  /** The API server knows the newest status of these pods, and that the node is not ready when it is not. */
  told(uids: readonly string[]): boolean {
    return this.node.told() && uids.every((uid) => this.heardOf(uid));
  }

  /** The API server knows the newest status of this pod. */
  heardOf(uid: string): boolean {
    return this.status.isTold(uid);
  }

  /** A pod's actor told its status. */
  reported(pod: Pod, source: PodSource, report: PodReport): void {
    this.status.report({ pod, source, report });
    if (source !== 'api') this.mirrors.reported(report.state);
  }

  /** Mirror pods of this node (`kubelet_mirror_pods`). */
  get mirrorCount(): number {
    return this.mirrors.count;
  }

  /** A pod's actor has ended; another may follow at once under the same UID. */
  lifeEnded(uid: string): void {
    this.status.lifeEnded(uid);
  }

  /** Nothing of the pod is left on the node. */
  podGone(uid: string): void {
    this.status.forget(uid);
    this.objects.podGone(uid);
  }

  /** Closes journals without a word, as a death does. */
  close(): void {
    this.status.close();
    this.node.close();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.pods.stop();
    this.objects.stop();
    await Promise.all([this.node.stop(), this.status.stop(), this.mirrors.stop()]);
  }
}

/** Annotation by which the node controller tells how long objects may be cached, seconds; null without it. */
export function ttlSeconds(node: Node | null): number | null {
  const text = node?.metadata?.annotations?.['node.alpha.kubernetes.io/ttl'];
  const seconds = Number.parseInt(text ?? '', 10);
  return Number.isNaN(seconds) ? null : seconds;
}
