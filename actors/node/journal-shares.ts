import type { ActorletSettings } from '../configure/configuration/actorlet-settings.ts';

/** Bounds on the node's journals, bytes on disk. */
export interface JournalShares {
  /** Folder of all of them. */
  dir: string;
  node: number;
  /** Of the queue of image pulls. */
  pulls: number;
  supervisor: number;
  /** Of each worker. */
  shard: number;
}

/**
 * What each writer gets of `--journal-max-bytes`; null with `--no-journal`. The supervisor's messages are few: one for each
 * change of a source and each end of a pod; the node's and those of image pulls are fewer.
 */
export function journalShares({ journalDir, journalMaxBytes, shards }: ActorletSettings): JournalShares | null {
  if (journalDir === null) return null;
  const node = Math.floor(journalMaxBytes / 256);
  const pulls = node;
  const supervisor = Math.floor(journalMaxBytes / 16) - node - pulls;
  const shard = Math.floor((journalMaxBytes - supervisor - node - pulls) / shards);
  return { dir: journalDir, node, pulls, supervisor, shard };
}
