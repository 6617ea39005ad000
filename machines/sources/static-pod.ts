import type { Pod } from '../protocol/api-types.ts';
import type { ValidationGates } from '../pod-validation/environment.ts';
import { CONFIG_HASH, withoutDropped } from './annotations.ts';

type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number];

/** Where a static pod was read from. */
export interface StaticOrigin {
  kind: 'file' | 'http';
  /** Path of the file, or the URL. */
  location: string;
  nodeName: string;
  /** Of the node, where they are not as by default. */
  gates?: ValidationGates;
}

/**
 * What is hashed for the uid of a static pod whose manifest sets none, besides the (defaulted) pod itself: the same
 * manifest in another file, or on another node, is another pod.
 */
export function originText(origin: StaticOrigin): string {
  return origin.kind === 'file' ? `host:${origin.nodeName}file:${origin.location}` : `url:${origin.location}`;
}

/**
 * Turns a defaulted manifest into a static pod of this node (kubelet: applyDefaults of the config sources): name with
 * the node's name, namespace, node, hash annotation, toleration of NoExecute taints for files, phase Pending.
 * `hash` is the uid when the manifest sets none: 32 hex digits.
 */
export function staticPod(pod: Pod, origin: StaticOrigin, hash: string): Pod {
  const meta = pod.metadata ?? {};
  const uid = meta.uid || hash;
  const spec = pod.spec && {
    ...pod.spec,
    nodeName: origin.nodeName,
    ...(origin.kind === 'file' ? { tolerations: tolerating(pod.spec.tolerations ?? []) } : {}),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...meta,
      name: `${meta.name ?? ''}-${origin.nodeName.toLowerCase()}`,
      namespace: meta.namespace || 'default',
      uid,
      annotations: { ...withoutDropped(meta.annotations), [CONFIG_HASH]: uid },
    },
    ...(spec ? { spec } : {}),
    status: { ...pod.status, phase: 'Pending' },
  };
}

/** Problems of the node evict no static pod of a file: also not after a while (AddOrUpdateTolerationInPod). */
function tolerating(tolerations: readonly Toleration[]): Toleration[] {
  const forever: Toleration = { operator: 'Exists', effect: 'NoExecute' };
  const isIt = ({ operator, effect, key, value }: Toleration): boolean =>
    operator === forever.operator && effect === forever.effect && !key && !value;
  if (!tolerations.some(isIt)) return [...tolerations, forever];
  return tolerations.map((toleration) => (isIt(toleration) ? forever : toleration));
}
