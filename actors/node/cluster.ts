import type { Logger } from 'pino';
import type { CriClient } from '../../cri/client/cri-client.ts';
import type { StaticLife } from '../../machines/mirror-pods/mirror-plan.ts';
import type { Node } from '../../machines/node-object/node-types.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { PodMessage, PodSource } from '../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../machines/protocol/node-settings.ts';
import type { ApiClient } from '../cluster/api/api-client.ts';
import { createApiClient } from '../cluster/api/create-api-client.ts';
import type { Kubeconfig } from '../cluster/api/kubeconfig.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../configure/configuration/kubelet-flags.ts';
import { agentVersion } from '../configure/configuration/version.ts';
import { ApiEvents } from '../cluster/events/api-events.ts';
import type { EventRecorder } from '../cluster/events/event-recorder.ts';
import type { TokenSources } from '../runtime/images/plugin-token.ts';
import { restClientHooks } from './api-hooks.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import { NodeStartup } from '../record/metrics/node-startup.ts';
import { PodStartLatency } from '../record/metrics/pod-start-latency.ts';
import { MirrorPods } from '../cluster/mirror-pods/mirror-pods.ts';
import { NodeObject } from '../cluster/node-object/node-object.ts';
import { createAnswers } from '../cluster/objects/answer.ts';
import { ObjectStore } from '../cluster/objects/object-store.ts';
import { RuntimeClasses } from '../cluster/objects/runtime-classes.ts';
import { ServiceVariables } from '../cluster/objects/service-variables.ts';
import { TokenManager } from '../cluster/objects/token-manager.ts';
import type { RuntimeState } from '../runtime/runtime-state/runtime-watch.ts';
import type { Ask } from '../../machines/protocol/ask.ts';
import type { PodReport } from '../pods/shard/shard-protocol.ts';
import { StatusManager } from '../cluster/status/status-manager.ts';
import { watchPodsOfNode } from './pods-of-node.ts';

/** Life of a token for a plugin: what the API server gives when nothing is asked. */
const PLUGIN_TOKEN_SECONDS = 3600;

/** What the cluster's side of the node works with. */
export interface ClusterOptions {
  kubeconfig: Kubeconfig;
  config: KubeletConfiguration;
  flags: KubeletFlags;
  settings: NodeSettings;
  cri: CriClient;
  log: Logger;
  metrics: Metrics;
  events: EventRecorder;
  now: () => number;
  runtimeState: () => RuntimeState;
  /** Why PLEG is not healthy, null when it is. */
  plegError: () => string | null;
  /** All pods that the API server binds to this node, mirror pods left out. */
  onPods: (pods: Pod[]) => void;
  /** How far a static pod's life is. */
  lifeOf: (uid: string) => StaticLife;
  /** To a pod's actor. */
  tell: (uid: string, message: PodMessage) => void;
}

/**
 * Everything that a node does with an API server: its Node object and lease, the pods that are bound to it, their
 * statuses, mirror pods and events, and the objects that they use. Wires parts only.
 */
export class Cluster {
  readonly node: NodeObject;
  /** Answers to what workers ask. */
  readonly answers: Ask;
  readonly objects: ObjectStore;
  /** Service accounts and their tokens, for credential provider plugins. */
  readonly pluginTokens: TokenSources;
  readonly api: ApiClient;
  /** How long pods take to start. */
  readonly starts: PodStartLatency;
  private readonly nodeName: string;
  private readonly tokens: TokenManager;
  private readonly services: ServiceVariables;
  private readonly runtimeClasses: RuntimeClasses;
  private readonly status: StatusManager;
  private readonly mirrors: MirrorPods;
  private readonly eventSink: ApiEvents;
  private readonly pods: ReturnType<typeof watchPodsOfNode>;
  private stopped = false;

  constructor(options: ClusterOptions) {
    const { config, flags, settings, log, now, tell, metrics, events } = options;
    const { nodeName } = settings;
    const api = createApiClient({
      kubeconfig: options.kubeconfig,
      userAgent: `kubelet/${agentVersion()} (linux) actorlet`,
      log,
      ...restClientHooks(metrics),
    });
    this.api = api;
    this.starts = new PodStartLatency(metrics, now);
    this.nodeName = nodeName;
    const limited = api.limited(config.kubeAPIQPS, config.kubeAPIBurst);
    this.eventSink = new ApiEvents({ api, nodeName, qps: config.eventRecordQPS, burst: config.eventBurst, log, now });
    events.addSink(this.eventSink);
    this.node = new NodeObject({
      api,
      config,
      flags,
      settings,
      cri: options.cri,
      log,
      now,
      events,
      runtimeState: options.runtimeState,
      plegError: options.plegError,
      startup: new NodeStartup(metrics, now),
    });
    const onPatched = (pod: Pod) => this.starts.statusUpdated(pod);
    this.status = new StatusManager({ api: limited, nodeName, log, now, metrics, onPatched });
    this.mirrors = new MirrorPods({
      api: limited,
      nodeName,
      log,
      now,
      node: () => this.node.node(),
      lifeOf: options.lifeOf,
    });
    const refresh = (uid: string) => tell(uid, { type: 'pod.refresh', at: now() });
    this.objects = new ObjectStore({
      api: limited,
      strategy: config.configMapAndSecretChangeDetectionStrategy,
      log,
      nodeTtlSeconds: () => ttlSeconds(this.node.node()),
      onChange: (kind, namespace, name) => this.objects.podsNaming(kind, namespace, name).forEach(refresh),
    });
    this.tokens = new TokenManager({ api: limited, log, onDue: refresh });
    this.pluginTokens = {
      serviceAccount: (namespace, name) => this.serviceAccount(limited, namespace, name),
      token: (pod, serviceAccountUid, audience) =>
        this.tokens.get({
          ...{ namespace: pod.namespace, serviceAccount: pod.serviceAccount, serviceAccountUid },
          ...{ podName: pod.name, podUid: pod.uid, audience, expirationSeconds: PLUGIN_TOKEN_SECONDS },
        }),
    };
    this.services = new ServiceVariables({ api: limited, log });
    this.runtimeClasses = new RuntimeClasses({ api: limited, log });
    const { objects, tokens, services, runtimeClasses } = this;
    this.answers = createAnswers({ objects, tokens, services, runtimeClasses });
    this.pods = watchPodsOfNode({
      api: limited,
      nodeName,
      log,
      onList: (pods) => {
        this.status.setApiPods(pods);
        this.mirrors.setApi(pods);
        for (const pod of pods) this.starts.observed(pod);
      },
      onPod: (pod, gone) => {
        const uid = pod.metadata?.uid ?? '';
        for (const part of [this.status, this.mirrors]) {
          if (gone) part.apiPodGone(uid);
          else part.apiPod(pod);
        }
        if (gone) this.starts.forget(uid);
        else this.starts.observed(pod);
      },
      onPods: options.onPods,
    });
  }

  /** Begins to register, and to watch pods once the own Node is known: admission needs it (kubelet waits likewise). */
  start(): void {
    this.node.start();
    this.services.start();
    void this.node.whenRegistered().then(() => {
      if (!this.stopped) this.pods.start();
      this.mirrors.look();
    });
  }

  /** The own Node as the API server has it this moment; null when it cannot be asked. */
  async freshNode(): Promise<Node | null> {
    const on = { group: '', version: 'v1', resource: 'nodes' };
    return this.api.request<Node>({ method: 'GET', on, name: this.nodeName }).catch(() => null);
  }

  private async serviceAccount(
    api: ApiClient,
    namespace: string,
    name: string,
  ): ReturnType<TokenSources['serviceAccount']> {
    const on = { group: '', version: 'v1', resource: 'serviceaccounts', namespace };
    const { metadata } = await api.request<{ metadata?: Pod['metadata'] }>({ method: 'GET', on, name });
    return { uid: metadata?.uid ?? '', annotations: metadata?.annotations ?? {} };
  }

  /** A pod came or was changed: what it names is fetched ahead of its actor's asking. */
  podWanted(pod: Pod): void {
    this.objects.register(pod);
  }

  /** All static pods; `complete` once each source has spoken. */
  staticPods(pods: readonly Pod[], complete: boolean): void {
    this.mirrors.setStatic(pods, complete);
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

  /** A pod's actor has ended. */
  podGone(uid: string): void {
    this.status.forget(uid);
    this.objects.unregister(uid);
    this.tokens.forget(uid);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.pods.stop();
    this.eventSink.stop();
    this.objects.close();
    this.tokens.close();
    this.services.stop();
    this.runtimeClasses.stop();
    await Promise.all([this.node.stop(), this.status.stop(), this.mirrors.stop()]);
    this.api.close();
  }
}

/** Annotation by which the node controller tells how long objects may be cached, seconds; null without it. */
function ttlSeconds(node: Node | null): number | null {
  const text = node?.metadata?.annotations?.['node.alpha.kubernetes.io/ttl'];
  const seconds = Number.parseInt(text ?? '', 10);
  return Number.isNaN(seconds) ? null : seconds;
}
