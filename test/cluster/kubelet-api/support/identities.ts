import { join } from 'node:path';
import { runCommand } from '../../../../cri/private-containerd/run-command.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { Pki } from '../../../../bin/control-plane/pki.ts';
import type { KeyPair } from '../../../../bin/control-plane/pki.ts';
import { nodeClient } from './node-client.ts';
import type { Identity } from './raw-request.ts';

const GROUP = 'rbac.authorization.k8s.io';
const RBAC = `/apis/${GROUP}/v1`;

/** Rights of service accounts that may do little: verbs on sub-resources of nodes. */
const LOW_RIGHTS: Readonly<Record<string, readonly [verbs: readonly string[], subresources: readonly string[]]>> = {
  nothing: [[], []],
  'metrics-only': [['get'], ['metrics']],
  'stats-only': [['get'], ['stats']],
  'pods-only': [['get'], ['pods']],
  'healthz-only': [['get'], ['healthz']],
  'configz-only': [['get'], ['configz']],
  'log-only': [['get'], ['log']],
  'checkpoint-only': [['create'], ['checkpoint']],
  'proxy-reader': [['get'], ['proxy']],
  'proxy-writer': [['create'], ['proxy']],
};

/** Identities that no kubelet lets in: it answers 401 to all they ask. */
export async function strangers(plane: ControlPlane): Promise<Identity[]> {
  const foreign = await Pki.make(join(plane.dir, 'foreign-pki'));
  return [
    { name: 'none' },
    { name: 'wrong token', authorization: 'Bearer no.such.token' },
    { name: 'empty token', authorization: 'Bearer ' },
    { name: 'basic', authorization: `Basic ${Buffer.from('admin:admin').toString('base64')}` },
    { name: 'foreign CA', pair: await foreign.issue('stranger', 'admin', 'system:masters') },
    { name: 'expired', pair: await expired(plane.pki) },
    { name: 'server only', pair: await withoutClientAuth(plane.pki) },
  ];
}

/** Service accounts with few rights, by name. */
export async function lowRights(plane: ControlPlane): Promise<Identity[]> {
  return Promise.all(
    Object.entries(LOW_RIGHTS).map(async ([name, [verbs, subresources]]) => {
      const resources = subresources.map((subresource) => `nodes/${subresource}`);
      if (resources.length > 0) {
        await plane.api.post(`${RBAC}/clusterroles`, {
          metadata: { name },
          rules: [{ apiGroups: [''], resources, verbs }],
        });
      }
      return { name, authorization: `Bearer ${await serviceAccountToken(plane, name, name)}` };
    }),
  );
}

/** Identities that may ask for everything. */
export async function fullRights(plane: ControlPlane): Promise<Identity[]> {
  const token = await serviceAccountToken(plane, 'full', 'system:kubelet-api-admin');
  return [
    { name: 'full certificate', pair: await nodeClient(plane) },
    { name: 'full token', authorization: `Bearer ${token}` },
  ];
}

async function serviceAccountToken(plane: ControlPlane, name: string, role: string): Promise<string> {
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await plane.api.post(accounts, { metadata: { name } });
  await plane.api.post(`${RBAC}/clusterrolebindings`, {
    metadata: { name: `identity-${name}` },
    roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
  });
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
  const made = await plane.api.post<{ status: { token: string } }>(`${accounts}/${name}/token`, request);
  return made.status.token;
}

/** A certificate of the right authority whose time is over. */
async function expired(pki: Pki): Promise<KeyPair> {
  return again(pki, 'expired', ['-days', '0'], 'clientAuth');
}

/** A certificate of the right authority that is not for clients. */
async function withoutClientAuth(pki: Pki): Promise<KeyPair> {
  return again(pki, 'server-only', ['-days', '1'], 'serverAuth');
}

async function again(pki: Pki, name: string, days: readonly string[], usage: string): Promise<KeyPair> {
  const { key } = await pki.issue(name, 'admin', 'system:masters');
  const cert = join(pki.dir, `${name}-again.crt`);
  const script = 'printf "extendedKeyUsage=%s\\n" "$1" > "$2.ext"; shift; shift; exec openssl "$@"';
  const by = ['-CA', pki.ca.cert, '-CAkey', pki.ca.key, '-set_serial', String(Date.now())];
  const args = ['x509', '-req', '-in', join(pki.dir, `${name}.csr`), ...by, ...days, '-out', cert];
  const result = await runCommand('sh', ['-c', script, 'sh', usage, cert, ...args, '-extfile', `${cert}.ext`]);
  if (result.code !== 0) throw new Error(`openssl x509: ${result.stderr}`);
  return { cert, key };
}
