import { createHash } from 'node:crypto';
import type { ImagePullServiceAccount } from '../../../machines/images/pull-record.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { TokenAttributes } from './provider-config.ts';

/** The pod for which an image is pulled. */
export interface PullingPod {
  namespace: string;
  name: string;
  uid: string;
  /** '' of a pod without one (a static pod). */
  serviceAccount: string;
}

/** Where service accounts and their tokens come from. Both reject on a standalone node. */
export interface TokenSources {
  /** The service account as the API server has it now. */
  serviceAccount: (
    namespace: string,
    name: string,
  ) => Promise<{ uid: string; annotations: Readonly<Record<string, string>> }>;
  /** A token for the audience, bound to the pod; from a cache while it is fresh. */
  token: (pod: PullingPod, serviceAccountUid: string, audience: string) => Promise<string>;
}

/** What a plugin is told of a pod's service account. Never logged. */
export interface PluginToken {
  account: ImagePullServiceAccount;
  token: string;
  annotations: Record<string, string>;
  /** Answers of a plugin are for those with the same. */
  cacheKey: string;
  /** Questions to a plugin with the same are one. */
  flightKey: string;
}

/** The pod as plugins are told of it. */
export function pullingPod(pod: Pod | undefined): PullingPod | null {
  if (pod === undefined) return null;
  const { namespace = '', name = '', uid = '' } = pod.metadata ?? {};
  return { namespace, name, uid, serviceAccount: pod.spec?.serviceAccountName ?? '' };
}

/**
 * The token that a plugin gets for a pod (KEP-4412). `null`: the plugin is asked without one; 'passOver': it is not asked,
 * since the pod has no service account and it wants one, or the account lacks an annotation by which pods opt in.
 * @throws Error in kubelet's words when the account or its token cannot be had
 */
export async function pluginToken(
  attributes: TokenAttributes | undefined,
  pod: PullingPod | null,
  sources: TokenSources | undefined,
): Promise<PluginToken | 'passOver' | null> {
  if (attributes === undefined) return null;
  if (pod === null || pod.serviceAccount === '') return attributes.requireServiceAccount ? 'passOver' : null;
  const { namespace, serviceAccount: name } = pod;
  const found = await told('failed to get service account', () =>
    (sources ?? standalone).serviceAccount(namespace, name),
  );
  const annotations: Record<string, string> = {};
  for (const key of [...attributes.requiredAnnotationKeys, ...attributes.optionalAnnotationKeys]) {
    const value = Object.hasOwn(found.annotations, key) ? found.annotations[key] : undefined;
    if (value !== undefined) annotations[key] = value;
    else if (attributes.requiredAnnotationKeys.includes(key)) return 'passOver';
  }
  const { uid } = found;
  const token = await told('failed to get service account token', () =>
    (sources ?? standalone).token(pod, uid, attributes.audience),
  );
  const sorted = Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash('sha256').update(token).digest('hex');
  return {
    account: { uid, namespace, name },
    token,
    annotations,
    cacheKey: JSON.stringify([namespace, name, uid, sorted, attributes.cacheType === 'Token' ? hash : '']),
    flightKey: JSON.stringify([hash, sorted]),
  };
}

const standalone: TokenSources = {
  serviceAccount: () => Promise.reject(new Error('cannot get ServiceAccounts when kubelet is in standalone mode')),
  token: () => Promise.reject(new Error('cannot use TokenManager when kubelet is in standalone mode')),
};

async function told<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new Error(`${what}: ${messageOf(error)}`, { cause: error });
  }
}
