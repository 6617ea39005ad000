import { bucketOf } from './pod-table.ts';

/** Something by UID, plain JSON: in buckets, so that a change copies one of them and not all. */
export type UidTable<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

/** What stands under the UID. */
export function atUid<T>(table: UidTable<T>, uid: string): T | undefined {
  return table[bucketOf(uid)]?.[uid];
}

/** The table with this under the UID. */
export function withUid<T>(table: UidTable<T>, uid: string, value: T): UidTable<T> {
  const bucket = bucketOf(uid);
  return { ...table, [bucket]: { ...table[bucket], [uid]: value } };
}

/** The table with nothing under the UID. A bucket with nothing in it is none. */
export function withoutUid<T>(table: UidTable<T>, uid: string): UidTable<T> {
  const key = bucketOf(uid);
  const { [key]: bucket = {}, ...rest } = table;
  const { [uid]: gone, ...others } = bucket;
  if (gone === undefined) return table;
  for (const _other in others) return { ...table, [key]: others };
  return rest;
}

/** All that stand in the table, with their UIDs; their order means nothing. */
export function uidEntries<T>(table: UidTable<T>): [uid: string, value: T][] {
  return Object.values(table).flatMap((bucket) => Object.entries(bucket));
}

/** A table of these. */
export function uidTable<T>(entries: Iterable<readonly [uid: string, value: T]>): UidTable<T> {
  const table: Record<string, Record<string, T>> = {};
  for (const [uid, value] of entries) (table[bucketOf(uid)] ??= {})[uid] = value;
  return table;
}
