import { createHash } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { RequestTemplate } from './request-template.ts';

/** Who signs: names of Kubernetes' own signers. */
export type SignerName = 'kubernetes.io/kubelet-serving' | 'kubernetes.io/kube-apiserver-client-kubelet';

/** Usages of the certificates of a node; keys of RSA need key encipherment, too. Their order is kubelet's. */
export function usagesFor(signer: SignerName, key: KeyObject): string[] {
  const purpose = signer === 'kubernetes.io/kubelet-serving' ? 'server auth' : 'client auth';
  return ['digital signature', ...(key.asymmetricKeyType === 'rsa' ? ['key encipherment'] : []), purpose];
}

/** Usages of the request of the bootstrap: the same, in the order that its name depends on. */
export function bootstrapUsages(key: KeyObject): string[] {
  return ['digital signature', 'client auth', ...(key.asymmetricKeyType === 'rsa' ? ['key encipherment'] : [])];
}

/**
 * `node-csr-HASH`: the name of the bootstrap's request, the same for the same key, subject and usages, so that an agent
 * that starts again finds the request that waits for approval.
 */
export function bootstrapCsrName(publicKey: KeyObject, template: RequestTemplate, usages: readonly string[]): string {
  const hash = createHash('sha512-256');
  const parts = [
    publicKey.export({ type: 'spki', format: 'der' }),
    ...[template.commonName, ...template.organizations, ...usages].map((text) => Buffer.from(text)),
  ];
  // The delimiter is not in the alphabet, so no two lists give the same text.
  for (const part of parts) hash.update(`${part.toString('base64url')}|`);
  return `node-csr-${hash.digest('base64url')}`;
}
