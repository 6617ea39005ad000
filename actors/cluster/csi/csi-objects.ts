import type { Logger } from 'pino';
import type { NodeDriver, NodeMarks } from '../../../machines/csi/node-drivers.ts';
import type { IssuedToken } from '../../../machines/csi/node-requests.ts';
import type { CsiDriver, VolumeAttachment } from '../../../machines/csi/storage-objects.ts';
import { foreignCsiNode, initialCsiNode, reconciledCsiNode } from '../../../machines/node-object/csi-node.ts';
import type { CsiNode } from '../../../machines/node-object/csi-node.ts';
import type { CsiApi, TokenOwner } from '../../resources/csi/csi-api.ts';
import { isNotFound } from '../api/api-client.ts';
import type { ApiClient, ApiRequest } from '../api/api-client.ts';
import { Reflector } from '../api/reflector.ts';
import { knownObject } from '../objects/object-content.ts';
import { codedError } from '../objects/object-errors.ts';
import type { TokenManager } from '../objects/token-manager.ts';

const STORAGE = { group: 'storage.k8s.io', version: 'v1' };
const CSI_NODES = { ...STORAGE, resource: 'csinodes' };
const NODES = { group: '', version: 'v1', resource: 'nodes' };
/** How long the first list of CSIDrivers is waited for, ms. */
const FIRST_LIST_MS = 10_000;

/** What {@link CsiObjects} works with. */
export interface CsiObjectsOptions {
  /** With the limits of `kubeAPIQPS`. */
  api: ApiClient;
  tokens: Pick<TokenManager, 'issue'>;
  nodeName: string;
  log: Logger;
}

interface ObjectMeta {
  uid?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** What CSI has of the API server: CSIDrivers (followed from the first time that one is asked for), attachments, secrets, tokens, CSINode. */
export class CsiObjects implements CsiApi {
  private readonly options: CsiObjectsOptions;
  private readonly drivers: Reflector<CsiDriver>;
  private readonly ending = new AbortController();
  private readonly hearers = new Set<(name: string) => void>();

  constructor(options: CsiObjectsOptions) {
    const { api, log } = options;
    this.options = options;
    const tell = (name: string | undefined): void => this.hearers.forEach((hear) => hear(name ?? ''));
    this.drivers = new Reflector<CsiDriver>({
      ...{ api, log, on: { ...STORAGE, resource: 'csidrivers' } },
      onEvent: ({ object }) => tell(object.metadata?.name),
    });
  }

  stop(): void {
    this.ending.abort();
    this.drivers.stop();
  }

  driversChange(hear: (name: string) => void): void {
    this.hearers.add(hear);
  }

  async driver(name: string): Promise<CsiDriver | null> {
    this.drivers.start();
    if (!(await this.drivers.syncedWithin(FIRST_LIST_MS)))
      throw codedError('NotSynced', 'CSIDrivers have not been read yet', this.drivers.lastError);
    return this.drivers.get('', name) ?? null;
  }

  async attachment(name: string): Promise<VolumeAttachment> {
    return this.ask<VolumeAttachment>({ method: 'GET', on: { ...STORAGE, resource: 'volumeattachments' }, name });
  }

  async secret(namespace: string, name: string): Promise<Record<string, string>> {
    const on = { group: '', version: 'v1', resource: 'secrets', namespace };
    const { content } = knownObject('secret', await this.ask({ method: 'GET', on, name }));
    if (Object.keys(content.binaryData).length > 0)
      throw codedError('Internal', 'grpc: error while marshaling: string field contains invalid UTF-8');
    return content.data;
  }

  token({ namespace, name, uid, serviceAccount }: TokenOwner, audience: string, life: number): Promise<IssuedToken> {
    const owner = { namespace, serviceAccount, podName: name, podUid: uid };
    return this.options.tokens.issue({ ...owner, audience, expirationSeconds: life });
  }

  async nodeMarks(): Promise<NodeMarks> {
    const { labels = {}, annotations = {} } = await this.nodeMeta();
    return { labels, annotations };
  }

  async patchMarks(change: Parameters<CsiApi['patchMarks']>[0]): Promise<void> {
    const { nodeName: name } = this.options;
    await this.ask({ method: 'PATCH', on: NODES, name, subresource: 'status', body: { metadata: change } });
  }

  async changeDrivers(change: (drivers: readonly NodeDriver[]) => NodeDriver[] | null, make: boolean): Promise<void> {
    const { nodeName: name } = this.options;
    const found = await this.csiNode(make);
    if (found === null) return;
    const drivers = change((found.spec.drivers ?? []) as NodeDriver[]);
    const annotated = make ? reconciledCsiNode(found) : null;
    if (drivers === null && annotated === null) return;
    const object = annotated ?? found;
    const body: CsiNode = drivers === null ? object : { ...object, spec: { ...object.spec, drivers } };
    await this.ask({ method: 'PUT', on: CSI_NODES, name, body });
  }

  /** The node's own CSINode; null when there is none and none is to be made. One of another node of this name is removed. */
  private async csiNode(make: boolean): Promise<CsiNode | null> {
    const { nodeName: name } = this.options;
    let found: CsiNode;
    try {
      found = await this.ask<CsiNode>({ method: 'GET', on: CSI_NODES, name });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (!make) return null;
      const uid = (await this.nodeMeta()).uid ?? '';
      return this.ask<CsiNode>({ method: 'POST', on: CSI_NODES, body: initialCsiNode(name, uid) });
    }
    if (!make) return found;
    const uid = (await this.nodeMeta()).uid ?? '';
    const foreign = foreignCsiNode(found, { name, uid });
    if (foreign === null) return found;
    await this.ask({ method: 'DELETE', on: CSI_NODES, name });
    throw new Error(foreign);
  }

  private async nodeMeta(): Promise<ObjectMeta> {
    const { nodeName: name } = this.options;
    const { metadata = {} } = await this.ask<{ metadata?: ObjectMeta }>({ method: 'GET', on: NODES, name });
    return metadata;
  }

  private ask<T>(request: ApiRequest): Promise<T> {
    return this.options.api.request<T>({ ...request, signal: this.ending.signal });
  }
}
