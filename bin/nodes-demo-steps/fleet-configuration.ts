import type { KeyPair } from '../control-plane/pki.ts';

/**
 * The KubeletConfiguration of nodes whose kubelet's API a control plane of one's own trusts, and which trust its clients.
 * @param clientCAFile certificate of its authority, PEM. @param more further fields
 */
export function fleetConfiguration({ cert, key }: KeyPair, clientCAFile: string, more: object = {}): object {
  return {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    clusterDNS: ['10.96.0.10'],
    tlsCertFile: cert,
    tlsPrivateKeyFile: key,
    authentication: { x509: { clientCAFile } },
    ...more,
  };
}
