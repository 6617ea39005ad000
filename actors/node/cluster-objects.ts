import type { Logger } from 'pino';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { Ask, ObjectContent } from '../../machines/protocol/ask.ts';
import type { ApiClient } from '../cluster/api/api-client.ts';
import { CsiObjects } from '../cluster/csi/csi-objects.ts';
import { createAnswers } from '../cluster/objects/answer.ts';
import { knownObject } from '../cluster/objects/object-content.ts';
import { ObjectStore } from '../cluster/objects/object-store.ts';
import { RuntimeClasses } from '../cluster/objects/runtime-classes.ts';
import { ServiceVariables } from '../cluster/objects/service-variables.ts';
import { TrustBundles } from '../cluster/objects/trust-bundles.ts';
import { PodCertificates } from '../cluster/pod-certificates/pod-certificates.ts';
import { TokenManager } from '../cluster/objects/token-manager.ts';
import type { EventRecorder } from '../cluster/events/event-recorder.ts';
import type { FeatureGates } from '../configure/configuration/feature-gates.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import { podCertificateMetrics } from '../record/metrics/certificate-metrics.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import type { CsiApi } from '../resources/csi/csi-api.ts';
import type { StorageObjects } from '../resources/volumes/resolve-volume.ts';
import type { TokenSources } from '../runtime/images/plugin-token.ts';

/** Life of a token for a plugin: what the API server gives when nothing is asked. */
const PLUGIN_TOKEN_SECONDS = 3600;

/** Kubelet's words for a node that shows none, its gate being off. */
const NO_BUNDLES = 'ClusterTrustBundle projection is not supported in static kubelet mode';

/** The objects of the API server that pods use. */
export interface ObjectsEnd {
  /** Answers to what workers ask. */
  readonly answers: Ask;
  /** Service accounts and their tokens, for credential provider plugins. */
  readonly pluginTokens: TokenSources | undefined;
  /** Null when there is none; rejects when the server cannot be asked. */
  secret(namespace: string, name: string): Promise<ObjectContent | null>;
  /** Claims and PersistentVolumes, read each time. */
  readonly storage: StorageObjects;
  /** What CSI has of the API server. */
  readonly csi: CsiApi | null;
  /** A pod came or was changed: what it names is fetched ahead of its actor's asking. */
  podWanted(pod: Pod): void;
  /** A pod's actor has ended. */
  podGone(uid: string): void;
  start(): void;
  stop(): void;
}

/** What they are made from. */
export interface ClusterObjectsOptions {
  /** With the limits of `kubeAPIQPS`. */
  api: ApiClient;
  nodeName: string;
  config: KubeletConfiguration;
  log: Logger;
  /** How long objects may be cached, seconds, as the node controller says; null when it does not. */
  nodeTtlSeconds: () => number | null;
  /** What a pod shows has changed. */
  refresh: (uid: string) => void;
  featureGates: FeatureGates;
  events: Pick<EventRecorder, 'record'>;
  metrics: Pick<Metrics, 'registry'>;
  /** UID of the node's own object; undefined before it is known. */
  nodeUid: () => string | undefined;
}

/** Caches and watches of the API server's objects, as kubelet's configMap, secret and token managers. */
export class ClusterObjects implements ObjectsEnd {
  readonly answers: Ask;
  readonly pluginTokens: TokenSources;
  readonly storage: StorageObjects;
  readonly csi: CsiObjects;
  private readonly api: ApiClient;
  private readonly objects: ObjectStore;
  private readonly tokens: TokenManager;
  private readonly services: ServiceVariables;
  private readonly runtimeClasses: RuntimeClasses;
  /** Null with its gate off. */
  private readonly trustBundles: TrustBundles | null;
  private readonly certificates: PodCertificates | null;

  constructor(options: ClusterObjectsOptions) {
    const { api, nodeName, config, log, nodeTtlSeconds, refresh, featureGates, events, metrics, nodeUid } = options;
    this.api = api;
    const core = { group: '', version: 'v1' };
    this.storage = {
      claim: (namespace, name) =>
        api.request({ method: 'GET', on: { ...core, resource: 'persistentvolumeclaims', namespace }, name }),
      volume: (name) => api.request({ method: 'GET', on: { ...core, resource: 'persistentvolumes' }, name }),
      async secret(namespace, name) {
        const on = { ...core, resource: 'secrets', namespace };
        return knownObject('secret', await api.request({ method: 'GET', on, name })).content;
      },
      patchClaim({ metadata: { namespace = '', name = '' } = {} }, body) {
        const on = { ...core, resource: 'persistentvolumeclaims', namespace };
        return api.request({ method: 'PATCH', on, name, subresource: 'status', body });
      },
    };
    this.objects = new ObjectStore({
      ...{ api, log, nodeTtlSeconds },
      strategy: config.configMapAndSecretChangeDetectionStrategy,
      onChange: (kind, namespace, name) => this.objects.podsNaming(kind, namespace, name).forEach(refresh),
    });
    this.tokens = new TokenManager({ api, log, onDue: refresh });
    this.csi = new CsiObjects({ api, tokens: this.tokens, nodeName, log });
    this.pluginTokens = {
      serviceAccount: (namespace, name) => this.serviceAccount(namespace, name),
      token: (pod, serviceAccountUid, audience) =>
        this.tokens.get({
          ...{ namespace: pod.namespace, serviceAccount: pod.serviceAccount, serviceAccountUid },
          ...{ podName: pod.name, podUid: pod.uid, audience, expirationSeconds: PLUGIN_TOKEN_SECONDS },
        }),
    };
    this.services = new ServiceVariables({ api, log });
    this.runtimeClasses = new RuntimeClasses({ api, log });
    this.trustBundles = featureGates.enabled('ClusterTrustBundleProjection')
      ? new TrustBundles({ api, log, refresh })
      : null;
    this.certificates = featureGates.enabled('PodCertificateRequest')
      ? new PodCertificates({ api, nodeName, nodeUid, events, log, refresh })
      : null;
    if (this.certificates !== null) podCertificateMetrics(metrics.registry, this.certificates);
    const { objects, tokens, services, runtimeClasses } = this;
    const trustBundles = this.trustBundles ?? { get: () => Promise.reject(new Error(NO_BUNDLES)) };
    const certificates = this.certificates ?? { get: () => Promise.reject(new Error('unimplemented')) };
    this.answers = createAnswers({ objects, tokens, services, runtimeClasses, trustBundles, certificates });
  }

  secret(namespace: string, name: string): Promise<ObjectContent | null> {
    return this.objects.get('secret', namespace, name);
  }

  podWanted(pod: Pod): void {
    this.objects.register(pod);
    this.trustBundles?.register(pod);
    this.certificates?.register(pod);
  }

  podGone(uid: string): void {
    this.objects.unregister(uid);
    this.tokens.forget(uid);
    this.trustBundles?.forget(uid);
    this.certificates?.forget(uid);
  }

  start(): void {
    this.services.start();
  }

  stop(): void {
    this.objects.close();
    this.tokens.close();
    this.csi.stop();
    this.services.stop();
    this.runtimeClasses.stop();
    this.trustBundles?.stop();
    this.certificates?.stop();
  }

  private async serviceAccount(namespace: string, name: string): ReturnType<TokenSources['serviceAccount']> {
    const on = { group: '', version: 'v1', resource: 'serviceaccounts', namespace };
    const { metadata } = await this.api.request<{ metadata?: Pod['metadata'] }>({ method: 'GET', on, name });
    return { uid: metadata?.uid ?? '', annotations: metadata?.annotations ?? {} };
  }
}
