import type { Node, NodeCondition, NodeStatus } from './node-types.ts';
import { isObject } from '../values/json-object.ts';
import { parseQuantity } from '../values/quantity.ts';

type Json = Record<string, unknown>;

/** Do two plain JSON values mean the same? An absent, null or empty list or map is nothing, as in apimachinery's `equality.Semantic`. */
export function semanticallyEqual(a: unknown, b: unknown): boolean {
  if (a === b || (isNothing(a) && isNothing(b))) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((value, index) => semanticallyEqual(value, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => semanticallyEqual(a[key], b[key]));
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** Did anything change but heartbeats? The order of conditions does not count. */
export function nodeStatusHasChanged(before: NodeStatus, after: NodeStatus): boolean {
  const plain = (conditions: NodeCondition[] = []) =>
    [...conditions]
      .sort((a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0))
      .map((condition) => ({ ...condition, lastHeartbeatTime: '' }));
  if (!semanticallyEqual(plain(before.conditions), plain(after.conditions))) return true;
  return !semanticallyEqual(amountsPlain(before), amountsPlain(after));
}

/** The status with each amount in one way of writing it: the server gives `96636764k` for `96636764000`. */
function amountsPlain(status: NodeStatus): NodeStatus {
  const plain = (amounts: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, canonicalAmount(amount)]));
  const { capacity, allocatable } = status;
  return {
    ...status,
    conditions: [],
    ...(capacity !== undefined && { capacity: plain(capacity) }),
    ...(allocatable !== undefined && { allocatable: plain(allocatable) }),
  };
}

/** As text when it is no amount: then only the same text is the same. */
function canonicalAmount(amount: string): string {
  return parseQuantity(amount)?.toString() ?? amount;
}

/** Did labels or annotations change? */
export function nodeMetadataHasChanged(before: Node, after: Node): boolean {
  return (
    !semanticallyEqual(before.metadata?.labels, after.metadata?.labels) ||
    !semanticallyEqual(before.metadata?.annotations, after.metadata?.annotations)
  );
}

/**
 * The strategic merge patch from one node object to the other, for `nodes/<name>/status`: labels, annotations and
 * status. Conditions merge by type, addresses are replaced as a whole (their merge key is not unique). undefined
 * when there is nothing to change.
 */
export function nodePatch(before: Node, after: Node): Json | undefined {
  const metadata: Json = {};
  for (const key of ['labels', 'annotations'] as const) {
    const change = mergeOf(before.metadata?.[key] ?? {}, after.metadata?.[key] ?? {});
    if (change !== undefined) metadata[key] = change;
  }
  const status = statusPatch(before.status ?? {}, after.status ?? {});
  const patch: Json = {};
  if (Object.keys(metadata).length > 0) patch['metadata'] = metadata;
  if (Object.keys(status).length > 0) patch['status'] = status;
  return Object.keys(patch).length > 0 ? patch : undefined;
}

function statusPatch(before: NodeStatus, after: NodeStatus): Json {
  const { conditions: oldConditions = [], addresses: oldAddresses = [], ...oldRest } = before;
  const { conditions = [], addresses = [], ...rest } = after;
  const patch: Json = mergeOf(oldRest, rest) ?? {};
  const changed = conditions.flatMap((condition) => {
    const old = oldConditions.find((c) => c.type === condition.type);
    if (old === undefined) return [condition as unknown as Json];
    const change = mergeOf(old as unknown as Json, condition as unknown as Json);
    return change === undefined ? [] : [{ ...change, type: condition.type }];
  });
  if (changed.length > 0) {
    patch['$setElementOrder/conditions'] = conditions.map(({ type }) => ({ type }));
    patch['conditions'] = changed;
  }
  if (!semanticallyEqual(oldAddresses, addresses)) patch['addresses'] = [...addresses, { $patch: 'replace' }];
  return patch;
}

/** Merge patch between two maps: changed values, null for those that went; lists are values. undefined for no change. */
function mergeOf(before: Json, after: Json): Json | undefined {
  const patch: Json = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[key], after[key]];
    if (semanticallyEqual(old, now)) continue;
    if (now === undefined || now === null) patch[key] = null;
    else if (isObject(old) && isObject(now)) patch[key] = mergeOf(old, now) ?? {};
    else patch[key] = now;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}
