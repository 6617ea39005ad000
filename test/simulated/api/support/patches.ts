import { isJson } from './stored-object.ts';
import type { Json } from './stored-object.ts';

/** Lists that a strategic merge patch merges by a key (k8s.io/api `patchMergeKey`); all others are replaced. */
const mergeKeys: Readonly<Record<string, string>> = {
  conditions: 'type',
  addresses: 'type',
  podIPs: 'ip',
  hostIPs: 'ip',
  containers: 'name',
  initContainers: 'name',
  ephemeralContainers: 'name',
  ownerReferences: 'uid',
  env: 'name',
};

/** RFC 7386: null removes, objects merge, all else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJson(patch)) return patch;
  const out: Json = isJson(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key];
    else out[key] = mergePatch(out[key], value);
  }
  return out;
}

/** Strategic merge as far as an agent needs it: keyed lists, `$patch: delete|replace`, `$setElementOrder/...`. */
export function strategicMergePatch(target: unknown, patch: unknown): unknown {
  if (!isJson(patch)) return patch;
  if (patch.$patch === 'replace') return strip(patch);
  const out: Json = isJson(target) ? { ...target } : {};
  const orders: [string, unknown[]][] = [];
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$setElementOrder/')) {
      if (Array.isArray(value)) orders.push([key.slice('$setElementOrder/'.length), value]);
    } else if (key.startsWith('$deleteFromPrimitiveList/')) {
      const name = key.slice('$deleteFromPrimitiveList/'.length);
      const gone = Array.isArray(value) ? value : [];
      if (Array.isArray(out[name])) out[name] = out[name].filter((each) => !gone.includes(each));
    } else if (value === null) delete out[key];
    else if (Array.isArray(value)) out[key] = mergeList(key, out[key], value);
    else out[key] = strategicMergePatch(out[key], value);
  }
  for (const [key, order] of orders) out[key] = ordered(out[key], order, mergeKeys[key]);
  return out;
}

function strip(patch: Json): Json {
  const { $patch, ...rest } = patch;
  return $patch === undefined ? patch : rest;
}

function mergeList(name: string, target: unknown, patch: unknown[]): unknown[] {
  const before: unknown[] = Array.isArray(target) ? target : [];
  if (name === 'finalizers') return [...new Set([...before, ...patch])];
  const key = mergeKeys[name];
  if (key === undefined) return patch;
  if (patch.some((each) => isJson(each) && each.$patch === 'replace' && !(key in each))) {
    return patch.filter((each) => isJson(each) && key in each);
  }
  const out = [...before];
  for (const each of patch) {
    if (!isJson(each)) continue;
    const at = out.findIndex((other) => isJson(other) && other[key] === each[key]);
    if (each.$patch === 'delete') {
      if (at !== -1) out.splice(at, 1);
    } else if (at === -1) out.push(strip(each));
    else out[at] = strategicMergePatch(out[at], each);
  }
  return out;
}

function ordered(list: unknown, order: unknown[], key: string | undefined): unknown {
  if (!Array.isArray(list) || key === undefined) return list;
  const names = order.map((each) => (isJson(each) ? each[key] : each));
  const place = (each: unknown): number => {
    const at = names.indexOf(isJson(each) ? each[key] : each);
    return at === -1 ? names.length : at;
  };
  return (list as unknown[]).toSorted((a, b) => place(a) - place(b));
}
