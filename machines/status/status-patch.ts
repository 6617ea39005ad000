import type { PodCondition, PodStatus } from '../protocol/api-types.ts';

/** Body of `PATCH .../pods/NAME/status`, `application/strategic-merge-patch+json`. */
export interface StatusPatch {
  /** A precondition: the API server answers 409 when the name belongs to another pod by now. */
  metadata: { uid: string };
  status: Record<string, unknown>;
}

/**
 * What must be sent so that `old` becomes `wanted`; null when nothing must. Only fields that differ are named, so
 * what others change meanwhile is left alone. Lists as the API type says (`patchStrategy` of core/v1 PodStatus):
 * conditions are merged by `type`; `hostIPs` and `podIPs` are merged by `ip`, but their order counts (the first one
 * must equal `podIP`), so they are replaced as a whole; container statuses have no strategy, which replaces them.
 */
export function statusPatch(uid: string, old: PodStatus, wanted: PodStatus): StatusPatch | null {
  const status: Record<string, unknown> = {};
  const before: Record<string, unknown> = { ...old };
  const after: Record<string, unknown> = { ...wanted };
  for (const key of keysOf(before, after)) {
    if (key === 'conditions') continue;
    if (!sameStored(before[key], after[key])) status[key] = fieldPatch(key, before[key], after[key]);
  }
  const conditions = conditionsPatch(old.conditions ?? [], wanted.conditions ?? []);
  if (conditions.length > 0) status['conditions'] = conditions;
  return Object.keys(status).length === 0 ? null : { metadata: { uid }, status };
}

function fieldPatch(key: string, before: unknown, after: unknown): unknown {
  if (isEmpty(after)) return null;
  if ((key === 'hostIPs' || key === 'podIPs') && Array.isArray(after)) return [{ $patch: 'replace' }, ...after];
  return isMap(before) && isMap(after) ? mapPatch(before, after) : after;
}

/** The keys of a map that differ; null for those to be removed. */
function mapPatch(before: object, after: object): Record<string, unknown> {
  const from: Record<string, unknown> = { ...before };
  const to: Record<string, unknown> = { ...after };
  const out: Record<string, unknown> = {};
  for (const key of keysOf(from, to)) {
    if (!sameStored(from[key], to[key])) out[key] = fieldPatch('', from[key], to[key]);
  }
  return out;
}

function conditionsPatch(old: readonly PodCondition[], wanted: readonly PodCondition[]): unknown[] {
  const out: unknown[] = [];
  for (const condition of wanted) {
    const before = old.find(({ type }) => type === condition.type);
    if (before === undefined) out.push(condition);
    else if (!sameStored(before, condition)) out.push({ type: condition.type, ...mapPatch(before, condition) });
  }
  for (const { type } of old) {
    if (!wanted.some((c) => c.type === type)) out.push({ $patch: 'delete', type });
  }
  return out;
}

/** Does the patch say nothing but to which generation of the pod a status belongs? */
export function isMinor({ status }: StatusPatch): boolean {
  return Object.entries(status).every(([key, value]) => {
    if (key === 'observedGeneration') return true;
    if (key !== 'conditions' || !Array.isArray(value)) return false;
    return value.every(
      (c: unknown) => isMap(c) && Object.keys(c).every((k) => k === 'type' || k === 'observedGeneration'),
    );
  });
}

/**
 * Would the API server store both alike? What Go leaves out when it is empty (`omitempty`), or writes as null or `{}`
 * (a zero `metav1.Time`, an empty `lastState`), counts as absent; `false` and `0` do not. Order in lists counts.
 */
export function sameStored(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === 'string' && typeof b === 'string') return false;
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!sameStored(a[i], b[i])) return false;
    return true;
  }
  if (!isMap(a) || !isMap(b)) return false;
  for (const key of Object.keys(a)) if (!sameStored(a[key], b[key])) return false;
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key) && !sameStored(a[key], b[key])) return false;
  return true;
}

/** Absent as far as the API is concerned: null, '', an empty list, or a map of nothing else. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  if (!isMap(value)) return false;
  for (const key of Object.keys(value)) if (!isEmpty(value[key])) return false;
  return true;
}

/** A JSON object, not a list. */
function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The keys of both, each once. */
function keysOf(a: object, b: object): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])];
}
