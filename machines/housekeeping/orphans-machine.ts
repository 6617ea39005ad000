import { backOffMs } from '../values/back-off.ts';

/** What a pod leaves behind on its node. */
export type Remains = 'folder' | 'cgroup';

/** A removal that failed. */
export interface Failure {
  /** In a row. */
  count: number;
  /** When it is tried again, ms of a clock that nobody sets. */
  until: number;
  text: string;
}

/** The memory of housekeeping, plain JSON: what could not be removed, by UID of its pod. */
export type Orphans = Readonly<Record<Remains, Readonly<Record<string, Failure>>>>;

/** What it is told. `at`: ms since the epoch; `steady`: ms of a clock that nobody sets. */
export type OrphanMessage =
  /** All that is there of pods that nobody owns. */
  | { type: 'orphans.found'; at: number; steady: number; what: Remains; uids: readonly string[] }
  /** One of them could not be removed. */
  | { type: 'orphan.stays'; at: number; steady: number; what: Remains; uid: string; text: string };

/** What follows. */
export type OrphanOrder =
  /** Remove it, unless its pod has come to life meanwhile. */
  | { type: 'orphan.remove'; what: Remains; uid: string }
  /** Log why it stays: that is news. */
  | { type: 'orphan.tell'; what: Remains; uid: string; text: string };

/** Kubelet's goroutinemap backoff: doubling to 2m2s. */
const WAITS = { firstMs: 2_000, maxMs: 122_000 };

/** Nothing has failed. */
export const NO_ORPHANS: Orphans = { folder: {}, cgroup: {} };

/**
 * One step of housekeeping: what a removed pod left is removed, and what fails is tried again ever later, each pod by itself.
 * What is not there any more is forgotten. A message that changes nothing gives the same state again.
 */
export function stepOrphans(state: Orphans, message: OrphanMessage): { state: Orphans; outputs: OrphanOrder[] } {
  return message.type === 'orphans.found' ? found(state, message) : stays(state, message);
}

/** The state's name: whether something could not be removed. */
export function orphansStateName({ folder, cgroup }: Orphans): string {
  return Object.keys(folder).length + Object.keys(cgroup).length > 0 ? 'someStay' : 'clean';
}

/** What could not be removed, and why; '' when all was. */
export function orphansWhy(state: Orphans): string {
  const words = (['folder', 'cgroup'] as const).flatMap((what) =>
    Object.entries(state[what]).map(([uid, { text }]) => `${what} of ${uid}: ${text}`),
  );
  return words.join('; ');
}

function found(
  state: Orphans,
  { what, uids, steady }: Extract<OrphanMessage, { type: 'orphans.found' }>,
): { state: Orphans; outputs: OrphanOrder[] } {
  const known = Object.entries(state[what]);
  const still = known.filter(([uid]) => uids.includes(uid));
  const due = uids.filter((uid) => (still.find(([other]) => other === uid)?.[1].until ?? 0) <= steady);
  return {
    state: still.length === known.length ? state : { ...state, [what]: Object.fromEntries(still) },
    outputs: due.map((uid) => ({ type: 'orphan.remove', what, uid })),
  };
}

function stays(
  state: Orphans,
  { what, uid, text, steady }: Extract<OrphanMessage, { type: 'orphan.stays' }>,
): { state: Orphans; outputs: OrphanOrder[] } {
  const before = Object.hasOwn(state[what], uid) ? state[what][uid] : undefined;
  const count = (before?.count ?? 0) + 1;
  const failure: Failure = { count, until: steady + backOffMs(count, WAITS), text };
  return {
    state: { ...state, [what]: { ...state[what], [uid]: failure } },
    outputs: before?.text === text ? [] : [{ type: 'orphan.tell', what, uid, text }],
  };
}
