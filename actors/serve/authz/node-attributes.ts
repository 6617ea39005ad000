/** What a request wants to do, in terms of RBAC: always on `nodes/SUBRESOURCE` of this node, API version v1. */
export interface NodeAttributes {
  /** `get`, `create`, `update`, `patch`, `delete`; '' for other methods. */
  verb: string;
  /** Each alone is enough; the first is named in messages. */
  subresources: readonly [string, ...string[]];
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Paths with a right of their own beside `proxy`, by feature gate KubeletFineGrainedAuthz. */
const FINE: readonly (readonly [path: string, subresource: string])[] = [
  ['/pods', 'pods'],
  ['/healthz', 'healthz'],
  ['/configz', 'configz'],
  ['/runningpods', 'pods'],
];

/** Paths with a right of their own that stands for `proxy`. */
const OWN: readonly (readonly [path: string, subresource: string])[] = [
  ['/stats', 'stats'],
  ['/metrics', 'metrics'],
  ['/logs', 'log'],
  ['/checkpoint', 'checkpoint'],
  ['/statusz', 'statusz'],
  ['/flagz', 'configz'],
];

/**
 * Attributes of a request to the kubelet server (kubelet's nodeAuthorizerAttributesGetter, KEP-2862).
 * @param path decoded, without query
 */
export function nodeAttributes(method: string, path: string, fineGrained: boolean): NodeAttributes {
  const of = (table: typeof OWN): string | undefined => table.find(([prefix]) => isUnder(path, prefix))?.[1];
  const verb = VERBS[method] ?? '';
  const last = of(OWN) ?? 'proxy';
  const fine = fineGrained ? of(FINE) : undefined;
  return { verb, subresources: fine === undefined ? [last] : [fine, last] };
}

function isUnder(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}
