import { writeFile } from 'node:fs/promises';
import type { KeyPair } from './pki.ts';

/** Writes a kubeconfig with a client certificate. */
export async function writeKubeconfig(file: string, server: string, caFile: string, user: KeyPair): Promise<void> {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'own', cluster: { server, 'certificate-authority': caFile } }],
    users: [{ name: 'user', user: { 'client-certificate': user.cert, 'client-key': user.key } }],
    contexts: [{ name: 'own', context: { cluster: 'own', user: 'user' } }],
    'current-context': 'own',
  };
  await writeFile(file, JSON.stringify(config, null, 1), { mode: 0o600 });
}

/** Writes a kubeconfig with a bearer token. */
export async function writeTokenKubeconfig(file: string, server: string, caFile: string, token: string): Promise<void> {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'own', cluster: { server, 'certificate-authority': caFile } }],
    users: [{ name: 'user', user: { token } }],
    contexts: [{ name: 'own', context: { cluster: 'own', user: 'user' } }],
    'current-context': 'own',
  };
  await writeFile(file, JSON.stringify(config, null, 1), { mode: 0o600 });
}
