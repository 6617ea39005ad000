import { createHash, randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { AskCatalog } from '../../../machines/protocol/ask.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { selects } from '../../../machines/values/label-selector.ts';
import { certificatesPem, pemBlocks } from '../../../machines/values/pem.ts';
import type { ApiClient } from '../api/api-client.ts';
import { Reflector } from '../api/reflector.ts';
import { codedError, isStatus } from './object-errors.ts';

/** Which bundles: one by name, or all of a signer that a selector takes. */
export type TrustBundleWish = AskCatalog['trustBundle.Get']['params'];

interface ClusterTrustBundle {
  metadata?: {
    name?: string;
    uid?: string;
    resourceVersion?: string;
    labels?: Record<string, string>;
  };
  spec?: { signerName?: string; trustBundle?: string };
}

/** How long the first list is waited for, ms. */
const FIRST_LIST_MS = 10_000;
const VERSIONS = ['v1beta1', 'v1alpha1'];
const NONE = 'ClusterTrustBundle projection is not supported in static kubelet mode';

/** Settings of {@link TrustBundles}. */
export interface TrustBundlesOptions {
  /** With the limits of `kubeAPIQPS`. */
  api: ApiClient;
  log: Logger;
  /** What a pod's volumes show has changed. */
  refresh: (podUid: string) => void;
}

/** The cluster's ClusterTrustBundles (KEP-3257), followed from the first time that a pod shows one. */
export class TrustBundles {
  private readonly options: TrustBundlesOptions;
  /** Certificates stand in an order of this agent's own, so that nobody relies on one. */
  private readonly salt = randomBytes(16);
  private readonly shownBy = new Map<string, { name?: string | undefined; signerName?: string | undefined }[]>();
  private opening: Promise<Reflector<ClusterTrustBundle> | null> | null = null;
  private reflector: Reflector<ClusterTrustBundle> | null = null;
  private stopped = false;

  constructor(options: TrustBundlesOptions) {
    this.options = options;
  }

  /** A pod came: it hears of changes to what its volumes show. */
  register(pod: Pod): void {
    const shown = (pod.spec?.volumes ?? []).flatMap(({ projected }) =>
      (projected?.sources ?? []).flatMap(({ clusterTrustBundle }) => clusterTrustBundle ?? []),
    );
    if (shown.length > 0) this.shownBy.set(pod.metadata?.uid ?? '', shown);
  }

  forget(podUid: string): void {
    this.shownBy.delete(podUid);
  }

  /** PEM of the certificates, each once; '' when there are none and none are needed. Rejects in kubelet's words. */
  async get({ name, signerName, labelSelector, optional }: TrustBundleWish): Promise<string> {
    const bundles = await this.follow();
    if (name !== undefined) {
      const found = bundles.get('', name);
      if (found !== undefined) return this.anchors([found]);
      if (optional) return '';
      const missing = `clustertrustbundle.certificates.k8s.io ${JSON.stringify(name)} not found`;
      throw codedError('NotFound', `while getting ClusterTrustBundle: ${missing}`);
    }
    const found = bundles
      .list()
      .filter(
        ({ metadata, spec }) => spec?.signerName === signerName && selects(labelSelector, metadata?.labels ?? {}),
      );
    if (found.length > 0) return this.anchors(found);
    if (optional) return '';
    throw codedError('NotFound', 'combination of signerName and labelSelector matched zero ClusterTrustBundles');
  }

  stop(): void {
    this.stopped = true;
    this.reflector?.stop();
  }

  private async follow(): Promise<Reflector<ClusterTrustBundle>> {
    this.opening ??= this.open().finally(() => {
      if (this.reflector === null) this.opening = null;
    });
    const bundles = await this.opening;
    if (bundles === null) throw codedError('NoKind', NONE);
    if (!(await bundles.syncedWithin(FIRST_LIST_MS)))
      throw codedError('NotSynced', 'ClusterTrustBundle informer has not yet synced', bundles.lastError);
    return bundles;
  }

  /** Null while the API server has none of the versions; it is asked again by whoever comes next. */
  private async open(): Promise<Reflector<ClusterTrustBundle> | null> {
    const { api, log } = this.options;
    for (const version of VERSIONS) {
      const on = { group: 'certificates.k8s.io', version, resource: 'clustertrustbundles' };
      try {
        await api.request({ method: 'GET', on, query: { limit: '1', resourceVersion: '0' } });
      } catch (error) {
        if (isStatus(error, 404)) continue;
        throw error;
      }
      if (this.stopped) return null;
      let listed = false;
      this.reflector = new Reflector<ClusterTrustBundle>({
        ...{ api, log, on },
        onSync: (bundles) => {
          // Who waits for the first list gets it.
          if (listed) this.changed(bundles);
          listed = true;
        },
        onEvent: ({ object }) => this.changed([object]),
      });
      this.reflector.start();
      return this.reflector;
    }
    return null;
  }

  private changed(bundles: readonly ClusterTrustBundle[]): void {
    const names = new Set(bundles.map(({ metadata }) => metadata?.name));
    const signers = new Set(bundles.map(({ spec }) => spec?.signerName));
    for (const [uid, shown] of this.shownBy) {
      const sees = shown.some(({ name, signerName }) =>
        name === undefined ? signers.has(signerName) : names.has(name),
      );
      if (sees) this.options.refresh(uid);
    }
  }

  private anchors(bundles: readonly ClusterTrustBundle[]): string {
    const blocks = new Set(bundles.flatMap(({ spec }) => pemBlocks(spec?.trustBundle ?? '')));
    const place = (block: string): string => createHash('sha256').update(this.salt).update(block).digest('hex');
    const placed = [...blocks].map((block) => ({ block, at: place(block) }));
    return certificatesPem(placed.sort((a, b) => (a.at < b.at ? -1 : 1)).map(({ block }) => block));
  }
}
