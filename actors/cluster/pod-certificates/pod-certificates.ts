import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { metricState } from '../../../machines/pod-certificates/credential.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { podObject } from '../../../machines/protocol/recorded-event.ts';
import type { ApiClient } from '../api/api-client.ts';
import { Reflector } from '../api/reflector.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import { codedError, whileForbidden } from '../objects/object-errors.ts';
import { accountOf, projectionsOf, requestFor, REQUESTS } from './certificate-request.ts';
import type { PodCertificateRequest, Projection } from './certificate-request.ts';
import { newProvenKey } from './key-proof.ts';
import { ProjectedCredential } from './projected-credential.ts';
import type { CredentialBundle } from './projected-credential.ts';

/** What {@link PodCertificates} works with. */
export interface PodCertificatesOptions {
  /** With the limits of `kubeAPIQPS`. */
  api: ApiClient;
  nodeName: string;
  /** UID of the node's own object; undefined before it is known. */
  nodeUid: () => string | undefined;
  events: Pick<EventRecorder, 'record'>;
  log: Logger;
  /** What a pod's volumes show has changed. */
  refresh: (podUid: string) => void;
  now?: () => number;
  /** 0 to 1, for jitter. */
  random?: () => number;
  /** Least time between two looks at all sources, ms; it is up to twice as long. */
  passMs?: number;
  /** Longest wait for a first certificate in `get`, ms: what takes longer is told as a failure, and goes on. */
  getTimeoutMs?: number;
}

/** How many sources of a signer are in a state, as `kubelet_podcertificate_states` tells it. */
export interface CertificateCount {
  signerName: string;
  state: string;
  count: number;
}

/**
 * Keys and certificates of the podCertificate sources of all pods (KEP-4317, kubelet's `podcertificate.IssuingManager`). They are in
 * memory alone: after a restart each source asks anew. No key enters a log, a journal or an error.
 */
export class PodCertificates {
  private readonly options: PodCertificatesOptions;
  private readonly now: () => number;
  private readonly random: () => number;
  private readonly requests: Reflector<PodCertificateRequest>;
  private readonly sources = new Map<string, ProjectedCredential[]>();
  private pass: NodeJS.Timeout | null = null;

  constructor(options: PodCertificatesOptions) {
    this.options = options;
    this.now = options.now ?? Date.now;
    this.random = options.random ?? Math.random;
    const { api, log, nodeName } = options;
    const changed = (uid: string | undefined): void => this.sources.get(uid ?? '')?.forEach((each) => each.look());
    this.requests = new Reflector<PodCertificateRequest>({
      ...{ api, log, on: REQUESTS, fieldSelector: `spec.nodeName=${nodeName}` },
      onSync: () => this.lookAtAll(),
      onEvent: ({ object }) => changed(object.spec?.podUID),
    });
  }

  /** A pod came: its certificates are asked for. */
  register(pod: Pod): void {
    const uid = pod.metadata?.uid ?? '';
    const projections = projectionsOf(pod);
    if (projections.length === 0 || this.sources.has(uid)) return;
    // A node without such pods does not watch.
    this.requests.start();
    if (this.pass === null) this.arm();
    const made = projections.map((projection) => this.credentialOf(projection));
    this.sources.set(uid, made);
    for (const each of made) each.look();
  }

  /** The pod is gone: its keys are forgotten. */
  forget(podUid: string): void {
    for (const each of this.sources.get(podUid) ?? []) each.stop();
    this.sources.delete(podUid);
  }

  /** Key and certificates of a source. Rejects in kubelet's words when there are none, a first one after some seconds. */
  async get(podUid: string, volume: string, index: number): Promise<CredentialBundle> {
    const found = this.sources.get(podUid)?.find((each) => each.volume === volume && each.index === index);
    if (found === undefined)
      throw codedError('NotRegistered', `no credentials yet for key={${podUid} ${volume} ${index}}`);
    return found.get(this.options.getTimeoutMs ?? 10_000);
  }

  /** For the metrics. */
  states(): CertificateCount[] {
    const counts = new Map<string, CertificateCount>();
    for (const { signerName, credential } of [...this.sources.values()].flat()) {
      const state = metricState(credential, this.now());
      const key = `${state} ${signerName}`;
      const count = counts.get(key) ?? { signerName, state, count: 0 };
      counts.set(key, { ...count, count: count.count + 1 });
    }
    return [...counts.values()];
  }

  stop(): void {
    if (this.pass !== null) clearTimeout(this.pass);
    this.requests.stop();
    for (const uid of [...this.sources.keys()]) this.forget(uid);
  }

  private credentialOf(projection: Projection): ProjectedCredential {
    const { events, log, refresh } = this.options;
    const { namespace = '', uid = '' } = projection.pod.metadata ?? {};
    return new ProjectedCredential(projection, {
      ...{ log, now: this.now, random: this.random },
      seen: (request) => (this.requests.synced ? (this.requests.get(namespace, request) ?? null) : undefined),
      ask: (signal) => this.ask(projection, signal),
      refresh: () => refresh(uid),
      tell: (reason, message) =>
        events.record({
          object: podObject(projection.pod),
          ...{ at: this.now(), type: 'Warning', reason, message },
        }),
    });
  }

  /** Makes a key and a request for it. */
  private async ask(projection: Projection, signal: AbortSignal) {
    const { api, nodeName, nodeUid } = this.options;
    const { namespace = '', uid = '' } = projection.pod.metadata ?? {};
    const on = { group: '', version: 'v1', resource: 'serviceaccounts', namespace };
    // The Node authorizer learns of a pod some ms after the node does.
    const account = await whileForbidden(
      () =>
        api.request<{ metadata?: { uid?: string } }>({ method: 'GET', on, name: accountOf(projection.pod), signal }),
      (ms) => delay(ms, undefined, { ref: false, signal }),
    );
    const identity = { nodeName, nodeUid: nodeUid() ?? '', serviceAccountUid: account.metadata?.uid ?? '' };
    if (identity.nodeUid === '') throw new Error('while getting node object from local cache: not found');
    const made = await newProvenKey(projection.source.keyType, uid);
    const body = requestFor(projection, made, identity);
    const request = await api.request<PodCertificateRequest>({
      method: 'POST',
      on: { ...REQUESTS, namespace },
      body,
      signal,
    });
    const { name = '', creationTimestamp } = request.metadata ?? {};
    if (name === '') throw new Error('the API server answered without a name');
    const createdAt = Date.parse(creationTimestamp ?? '');
    return { key: made.key, request: name, createdAt: Number.isNaN(createdAt) ? this.now() : createdAt };
  }

  private lookAtAll(): void {
    for (const each of [...this.sources.values()].flat()) each.look();
  }

  /** All sources are looked at each one to two minutes: nothing else tells that a certificate wants to be refreshed. */
  private arm(): void {
    const { passMs = 60_000 } = this.options;
    this.pass = setTimeout(
      () => {
        this.lookAtAll();
        this.arm();
      },
      passMs * (1 + this.random()),
    );
    this.pass.unref();
  }
}
