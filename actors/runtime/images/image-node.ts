import type { PullRecords } from './pull-records.ts';

/** Size of a file system and what is free of it for whoever is not root, bytes. */
export interface DiskSize {
  capacityBytes: number;
  availableBytes: number;
}

/** What the collection of images needs of the node's own files. */
export interface ImageNode {
  /** Null: pods may use every image of the node (gate KubeletEnsureSecretPulledImages off). */
  records: Pick<PullRecords, 'prune'> | null;
  /** Of the file system that a folder lies on. */
  disk: (path: string) => Promise<DiskSize>;
}
