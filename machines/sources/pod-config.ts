import type { Pod } from '../protocol/api-types.ts';
import type { PodSource } from '../protocol/messages.ts';
import { CONFIG_FIRST_SEEN, CONFIG_SOURCE, LOCAL_ANNOTATIONS } from './annotations.ts';
import { ALL_RESTARTING, OWN_CONDITIONS, RESIZE_CONDITIONS } from '../status/own-conditions.ts';
import { isTerminalPhase } from '../status/phase.ts';
import { equalJson } from './canonical-json.ts';
import { withoutEnd } from '../values/trim.ts';

/** What happened to pods of one source. An ADD without pods says that the source has spoken for the first time. */
export type PodConfigUpdate = {
  op: 'ADD' | 'UPDATE' | 'DELETE' | 'REMOVE' | 'RECONCILE';
  source: PodSource;
  pods: Pod[];
  /** Where pods of it were read from (path of the manifest, URL), by UID: for those who ask why a pod is here. */
  places?: Record<string, string>;
};

/** A pod that was left out because another of the same source has its name or its uid. */
export interface DuplicatePod {
  source: PodSource;
  namespace: string;
  name: string;
  uid: string;
  /** What they share. */
  shared: 'name' | 'uid';
  /** Which of them runs. */
  runs: 'first' | 'last';
}

/** One pod as it was handed on, and the object it was made from (to see at once that nothing changed). */
interface Kept {
  given: Pod;
  pod: Pod;
}

/** Pods of all sources, by source and uid, in the order of the source's last list (kubelet: podStorage). */
export interface PodConfigState {
  sources: Partial<Record<PodSource, Record<string, Kept>>>;
}

/** Nothing has been heard from any source. */
export const NO_PODS: PodConfigState = { sources: {} };

/** Have all configured sources spoken? Before that nothing may be removed from the node (SeenAllSources). */
export function sourcesReady(state: PodConfigState, configured: readonly PodSource[]): boolean {
  return configured.every((source) => state.sources[source] !== undefined);
}

/** All pods of all sources. */
export function allPods(state: PodConfigState): Pod[] {
  return Object.values(state.sources).flatMap((kept) => Object.values(kept ?? {}).map(({ pod }) => pod));
}

/**
 * Takes the full list of one source and says what changed since its last one, in the order in which it must be
 * handled: REMOVE, ADD, UPDATE, DELETE, RECONCILE; at most one update each. `at`: ms since the epoch.
 */
export function mergeSource(
  state: PodConfigState,
  source: PodSource,
  pods: readonly Pod[],
  at: number,
): { state: PodConfigState; updates: PodConfigUpdate[]; duplicates: DuplicatePod[] } {
  const before = state.sources[source];
  const after: Record<string, Kept> = {};
  const changes: Record<PodConfigUpdate['op'], Pod[]> = { REMOVE: [], ADD: [], UPDATE: [], DELETE: [], RECONCILE: [] };
  const { unique, duplicates } = withoutDuplicates(source, pods);
  for (const given of unique) {
    const uid = given.metadata?.uid ?? '';
    const existing = before?.[uid];
    if (existing?.given === given) {
      after[uid] = existing;
    } else if (existing) {
      const { pod, op } = compare(existing.pod, given, source);
      after[uid] = { given, pod };
      if (op) changes[op].push(pod);
    } else {
      const pod = annotate(given, { [CONFIG_SOURCE]: source, [CONFIG_FIRST_SEEN]: rfc3339Nano(at) });
      after[uid] = { given, pod };
      changes.ADD.push(pod);
    }
  }
  for (const [uid, { pod }] of Object.entries(before ?? {})) if (!after[uid]) changes.REMOVE.push(pod);
  const heardNothing = changes.ADD.length + changes.UPDATE.length + changes.DELETE.length === 0;
  const updates = (Object.keys(changes) as PodConfigUpdate['op'][])
    .filter((op) => changes[op].length > 0 || (op === 'ADD' && before === undefined && heardNothing))
    .map((op) => ({ op, source, pods: changes[op] }));
  return { state: { sources: { ...state.sources, [source]: after } }, updates, duplicates };
}

/**
 * Takes a newer version of one pod of a source, as {@link mergeSource} would with all the others as they were, and does not look at them. Null
 * when that has to be asked: no pod of this name and UID is known.
 */
export function mergePod(
  state: PodConfigState,
  source: PodSource,
  given: Pod,
): { state: PodConfigState; update: PodConfigUpdate | null } | null {
  const { name, namespace, uid = '' } = given.metadata ?? {};
  const before = state.sources[source];
  const known = before?.[uid];
  if (known === undefined) return null;
  const { metadata } = known.given;
  if (metadata?.name !== name || metadata?.namespace !== namespace) return null;
  const { pod, op } = compare(known.pod, given, source);
  const after = { ...before, [uid]: { given, pod } };
  return {
    state: { sources: { ...state.sources, [source]: after } },
    update: op === undefined ? null : { op, source, pods: [pod] },
  };
}

/** Of several manifests with a pod of one name kubelet's store keeps the last, of several pods of a list its filter keeps the first. */
function withoutDuplicates(source: PodSource, pods: readonly Pod[]): { unique: Pod[]; duplicates: DuplicatePod[] } {
  const lastOf = source === 'file' ? new Map(pods.map((pod) => [fullName(pod), pod])) : null;
  const names = new Set<string>();
  const uids = new Set<string>();
  const unique: Pod[] = [];
  const duplicates: DuplicatePod[] = [];
  for (const pod of pods) {
    const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
    const duplicate = (shared: 'name' | 'uid', runs: 'first' | 'last'): void =>
      void duplicates.push({ source, namespace, name, uid, shared, runs });
    if (lastOf !== null && lastOf.get(fullName(pod)) !== pod) {
      duplicate('name', 'last');
      continue;
    }
    if (names.has(fullName(pod))) duplicate('name', 'first');
    else if (uids.has(uid)) duplicate('uid', 'first');
    else unique.push(pod);
    names.add(fullName(pod));
    uids.add(uid);
  }
  return { unique, duplicates };
}

function fullName({ metadata }: Pod): string {
  return `${metadata?.name ?? ''}_${metadata?.namespace ?? ''}`;
}

function annotate(pod: Pod, annotations: Record<string, string>): Pod {
  return { ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata?.annotations, ...annotations } } };
}

/** What a newer version of a known pod means. Foreign conditions alone are a RECONCILE, and that the API calls the pod ended. */
function compare(existing: Pod, given: Pod, source: PodSource): { pod: Pod; op?: 'UPDATE' | 'DELETE' | 'RECONCILE' } {
  if (!differ(existing, given)) {
    const ends = source === 'api' && isTerminalPhase(given.status?.phase) && !isTerminalPhase(existing.status?.phase);
    if (!ends && equalJson(foreignConditions(existing), foreignConditions(given))) return { pod: existing };
    return { pod: { ...existing, status: given.status }, op: 'RECONCILE' };
  }
  const local: Record<string, string> = { [CONFIG_SOURCE]: source };
  for (const key of LOCAL_ANNOTATIONS) {
    const value = existing.metadata?.annotations?.[key];
    if (value !== undefined) local[key] = value;
  }
  const pod = annotate(given, local);
  return { pod, op: given.metadata?.deletionTimestamp === undefined ? 'UPDATE' : 'DELETE' };
}

/**
 * The conditions that others than the agent write (readiness gates, `DisruptionTarget`): beside a terminal phase the only part of a
 * status that a pod must hear of. The rest is the agent's own, and its status manager puts right what was overwritten.
 */
function foreignConditions(pod: Pod): unknown[] {
  return (pod.status?.conditions ?? [])
    .filter(
      ({ type }) => !OWN_CONDITIONS.includes(type) && !RESIZE_CONDITIONS.includes(type) && type !== ALL_RESTARTING,
    )
    .map(({ type, status, reason, message }) => [type, status, reason, message]);
}

/** Do two versions differ in what the node must act on? */
export function differ(existing: Pod, given: Pod): boolean {
  const [a, b] = [existing.metadata, given.metadata];
  return !(
    equalJson(existing.spec, given.spec) &&
    equalJson(a?.labels ?? {}, b?.labels ?? {}) &&
    a?.deletionTimestamp === b?.deletionTimestamp &&
    a?.deletionGracePeriodSeconds === b?.deletionGracePeriodSeconds &&
    equalJson(withoutLocal(a?.annotations), withoutLocal(b?.annotations))
  );
}

function withoutLocal(annotations: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => !LOCAL_ANNOTATIONS.includes(key)));
}

/** A time as Go's RFC3339Nano writes it: UTC, no trailing zeros in the fraction. */
export function rfc3339Nano(ms: number): string {
  return `${withoutEnd(withoutEnd(new Date(ms).toISOString().slice(0, -1), '0'), '.')}Z`;
}
