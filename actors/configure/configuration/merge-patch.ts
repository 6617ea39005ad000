import { isObject } from '../../../machines/values/json-object.ts';
import type { JsonObject } from './kubelet-configuration.ts';

/** JSON merge patch (RFC 7396), with which kubelet merges drop-ins: maps merge, lists are replaced, null removes. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const out: JsonObject = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key];
    else if (isObject(value)) out[key] = mergePatch(isObject(out[key]) ? out[key] : {}, value);
    else out[key] = value;
  }
  return out;
}

/** Paths of all leaves, joined with dots. A list is a leaf. */
export function leafPaths(value: JsonObject, prefix = ''): string[] {
  return Object.entries(value).flatMap(([key, item]) =>
    isObject(item) && Object.keys(item).length > 0 ? leafPaths(item, `${prefix}${key}.`) : [`${prefix}${key}`],
  );
}
