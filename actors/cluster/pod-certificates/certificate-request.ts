import type { SeenRequest } from '../../../machines/pod-certificates/credential.ts';
import type { Pod, Volume } from '../../../machines/protocol/api-types.ts';

/** Where requests are kept (KEP-4317; v1beta1 since 1.35). */
export const REQUESTS = { group: 'certificates.k8s.io', version: 'v1beta1', resource: 'podcertificaterequests' };

/** What of a projected volume asks for a certificate. */
export type CertificateSource = NonNullable<
  NonNullable<NonNullable<Volume['projected']>['sources']>[number]['podCertificate']
> & { userAnnotations?: Record<string, string> };

/** A `v1beta1.PodCertificateRequest`, as far as it is read. */
export interface PodCertificateRequest {
  metadata?: { name?: string; namespace?: string; uid?: string; resourceVersion?: string; creationTimestamp?: string };
  spec?: { podUID?: string };
  status?: {
    conditions?: { type?: string; reason?: string; message?: string }[];
    certificateChain?: string;
    beginRefreshAt?: string;
    notAfter?: string;
  };
}

/** A podCertificate source of a pod. */
export interface Projection {
  readonly pod: Pod;
  readonly volume: string;
  /** Its place among the volume's sources. */
  readonly index: number;
  readonly source: CertificateSource;
}

/** All such sources of a pod. */
export function projectionsOf(pod: Pod): Projection[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name, projected }) =>
    (projected?.sources ?? []).flatMap(({ podCertificate }, index) =>
      podCertificate == null ? [] : [{ pod, volume: name, index, source: podCertificate }],
    ),
  );
}

/** What the machine of a source hears of its request. */
export function seenRequest({ metadata, status = {} }: PodCertificateRequest): SeenRequest {
  const { conditions = [], beginRefreshAt, notAfter } = status;
  return {
    name: `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`,
    conditions: conditions.map(({ type = '', reason = '', message = '' }) => ({ type, reason, message })),
    ...(beginRefreshAt !== undefined && { beginRefreshAt: Date.parse(beginRefreshAt) }),
    ...(notAfter !== undefined && { notAfter: Date.parse(notAfter) }),
  };
}

/** The node that asks, and the account that the certificate is to speak for. */
export interface RequestIdentity {
  nodeName: string;
  nodeUid: string;
  serviceAccountUid: string;
}

/** A request as kubelet makes it, but for its owner's `apiVersion`: kubelet's `core/v1` is none that the garbage collector knows. */
export function requestFor(
  { pod, source }: Projection,
  { publicKey, proof }: { publicKey: string; proof: string },
  { nodeName, nodeUid, serviceAccountUid }: RequestIdentity,
): object {
  const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
  return {
    apiVersion: `${REQUESTS.group}/${REQUESTS.version}`,
    kind: 'PodCertificateRequest',
    metadata: {
      ...{ namespace, generateName: 'req-' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }],
    },
    spec: {
      ...{ signerName: source.signerName, podName: name, podUID: uid, nodeName, nodeUID: nodeUid },
      ...{ serviceAccountName: accountOf(pod), serviceAccountUID: serviceAccountUid },
      ...{ maxExpirationSeconds: source.maxExpirationSeconds, pkixPublicKey: publicKey, proofOfPossession: proof },
      unverifiedUserAnnotations: source.userAnnotations,
    },
  };
}

/** The pod's service account. */
export function accountOf(pod: Pod): string {
  return pod.spec?.serviceAccountName || 'default';
}
