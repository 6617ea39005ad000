import { patientDisk } from '../record/journal/log-disk.ts';
import type { LogDisk } from '../record/journal/log-disk.ts';
import type { ActorletSettings } from '../configure/configuration/actorlet-settings.ts';

/** Bounds on the node's journals, bytes on disk. */
export interface JournalShares {
  /** Folder of all of them. */
  dir: string;
  node: number;
  /** Of the queue of image pulls. */
  pulls: number;
  /** Of admission and what is set aside for pods. */
  admission: number;
  /** Of housekeeping, and of each of the node's managers. */
  manager: number;
  supervisor: number;
  /** Of what the API server is told of pods. */
  status: number;
  /** Of the node's own object. */
  nodeObject: number;
  /** Of each worker. */
  shard: number;
  /** The way to the disk of those on the main thread; without it each write is waited for. */
  disk?: LogDisk;
}

/**
 * What each writer gets of `--journal-max-bytes`; null with `--no-journal`. The supervisor's messages are few: one for each
 * change of a source and each end of a pod; those of admission and the node's are shorter or fewer.
 */
export function journalShares({
  journalDir,
  journalMaxBytes,
  shards,
}: Pick<ActorletSettings, 'journalDir' | 'journalMaxBytes' | 'shards'>): JournalShares | null {
  if (journalDir === null) return null;
  const node = Math.floor(journalMaxBytes / 256);
  const pulls = node;
  const admission = Math.floor(journalMaxBytes / 32);
  const supervisor = Math.floor(journalMaxBytes / 16) - node - pulls;
  const status = Math.floor(journalMaxBytes / 64);
  const shard = Math.floor((journalMaxBytes - supervisor - node - pulls - admission - status) / shards);
  const others = { node, pulls, admission, manager: node, supervisor, status, nodeObject: node };
  return { dir: journalDir, ...others, shard, disk: patientDisk };
}
