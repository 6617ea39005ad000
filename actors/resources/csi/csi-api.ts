import type { NodeDriver, NodeMarks } from '../../../machines/csi/node-drivers.ts';
import type { IssuedToken } from '../../../machines/csi/node-requests.ts';
import type { CsiDriver, VolumeAttachment } from '../../../machines/csi/storage-objects.ts';

/** Of a pod: whom a token is for. */
export interface TokenOwner {
  namespace: string;
  name: string;
  uid: string;
  serviceAccount: string;
}

/** The API server's side of CSI. All reject when it cannot be asked. */
export interface CsiApi {
  /** The CSIDriver of that name, from a cache that is followed; null when there is none. */
  driver(name: string): Promise<CsiDriver | null>;
  /** Calls `hear` with the name of each CSIDriver that changes, once one was asked for. */
  driversChange(hear: (name: string) => void): void;
  /** Rejects also when there is none. */
  attachment(name: string): Promise<VolumeAttachment>;
  /** The secret's content, decoded. Rejects also when there is none. */
  secret(namespace: string, name: string): Promise<Record<string, string>>;
  /** A token of the pod's service account. */
  token(owner: TokenOwner, audience: string, expirationSeconds: number): Promise<IssuedToken>;
  /** Labels and annotations of the node's object, as they are this moment. */
  nodeMarks(): Promise<NodeMarks>;
  /** Merges into them; null takes one away. */
  patchMarks(change: { labels?: Record<string, string>; annotations?: Record<string, string | null> }): Promise<void>;
  /**
   * Has the drivers of the node's CSINode changed: `change` gets those that are there and answers what shall be, null for "as it is". The object
   * is made when there is none (`make`), and one of another node of this name is removed first.
   */
  changeDrivers(change: (drivers: readonly NodeDriver[]) => NodeDriver[] | null, make: boolean): Promise<void>;
}
