import { dirname } from 'node:path';
import { stringify } from 'yaml';
import { readKubeconfig } from '../api/kubeconfig.ts';
import { absolute } from '../api/kubeconfig-fields.ts';
import { SECRET_MODE, placeFile } from '../../host/files/private-files.ts';

/**
 * Writes the kubeconfig of a node: server and authority of the bootstrap's, and the certificate of the store, which
 * later certificates replace under the same path. Content and form are kubelet's.
 */
export function writeNodeKubeconfig(bootstrapFile: string, file: string, pemPath: string): void {
  placeFile(file, nodeKubeconfig(bootstrapFile, pemPath), SECRET_MODE);
}

/** Text of the kubeconfig that {@link writeNodeKubeconfig} writes. */
function nodeKubeconfig(bootstrapFile: string, pemPath: string): string {
  const { where, cluster } = readKubeconfig(bootstrapFile);
  const caFile = cluster['certificate-authority'] ?? '';
  const caData = cluster['certificate-authority-data'] ?? '';
  const authority = {
    // In client-go data wins over a file when both are read, but here the file is asked first.
    ...(caFile === '' && caData !== '' && { 'certificate-authority-data': caData.replace(/\s/g, '') }),
    ...(caFile !== '' && { 'certificate-authority': absolute(dirname(where), caFile) }),
    ...(cluster['insecure-skip-tls-verify'] === true && { 'insecure-skip-tls-verify': true }),
  };
  return stringify(
    {
      apiVersion: 'v1',
      clusters: [{ cluster: { ...authority, server: cluster.server }, name: 'default-cluster' }],
      contexts: [
        {
          context: { cluster: 'default-cluster', namespace: 'default', user: 'default-auth' },
          name: 'default-context',
        },
      ],
      'current-context': 'default-context',
      kind: 'Config',
      users: [{ name: 'default-auth', user: { 'client-certificate': pemPath, 'client-key': pemPath } }],
    },
    { lineWidth: 0, indentSeq: false },
  );
}
