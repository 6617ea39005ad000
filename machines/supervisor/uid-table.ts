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

/** The table with nothing under the UID. */
export function withoutUid<T>(table: UidTable<T>, uid: string): UidTable<T> {
  const bucket = bucketOf(uid);
  const { [uid]: gone, ...others } = table[bucket] ?? {};
  return gone === undefined ? table : { ...table, [bucket]: others };
}
