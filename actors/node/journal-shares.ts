import type { ActorletSettings } from '../configure/configuration/actorlet-settings.ts';

/** Bounds on the node's journals, bytes on disk. */
export interface JournalShares {
  /** Folder of all of them. */
  dir: string;
  node: number;
  supervisor: number;
  /** Of each worker. */
  shard: number;
}

/**
 * What each writer gets of `--journal-max-bytes`; null with `--no-journal`. The supervisor's messages are few: one for each
 * change of a source and each end of a pod; the node's are fewer.
 */
export function journalShares({ journalDir, journalMaxBytes, shards }: ActorletSettings): JournalShares | null {
  if (journalDir === null) return null;
  const node = Math.floor(journalMaxBytes / 256);
  const supervisor = Math.floor(journalMaxBytes / 16) - node;
  return { dir: journalDir, node, supervisor, shard: Math.floor((journalMaxBytes - supervisor - node) / shards) };
}
