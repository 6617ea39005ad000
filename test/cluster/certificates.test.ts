import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile, readdir, readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import type { X509Certificate } from 'node:crypto';
import { waitFor } from '../tools/wait-for.ts';
import type { ClusterNode } from './support/cluster-node.ts';
import { withCluster } from './support/cluster-fixture.ts';

/** A CertificateSigningRequest as kubectl prints it. */
interface Request {
  metadata: { name: string };
  spec: { username: string; signerName: string; usages: string[] };
  status?: { certificate?: string; conditions?: { type: string }[] };
}

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const RBAC = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const AUTO = 'system:bootstrappers:auto';

const cluster = withCluster({ nodes: [], plane: { apiServerFlags: ['--enable-bootstrap-token-auth'] }, prepare });

/** Rights of bootstrap tokens; requests of the group `auto` are approved by kube-controller-manager. */
async function prepare(): Promise<void> {
  const { api } = cluster.plane();
  for (const [name, group] of [
    ['system:node-bootstrapper', 'system:bootstrappers'],
    ['system:certificates.k8s.io:certificatesigningrequests:nodeclient', AUTO],
  ]) {
    await api.post(RBAC, {
      metadata: { name: `test-${String(name).split(':').at(-1) ?? ''}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
    });
  }
}

/** Makes a node that has nothing but a bootstrap token. */
async function bootstrap(name: string, groups: string, config: object): Promise<ClusterNode> {
  const { api, dir, pki, server } = cluster.plane();
  const id = name.slice(0, 6).padEnd(6, '0');
  const secret = '0123456789abcdef';
  await api.post('/api/v1/namespaces/kube-system/secrets', {
    metadata: { name: `bootstrap-token-${id}` },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': secret,
      'usage-bootstrap-authentication': 'true',
      ...(groups === '' ? {} : { 'auth-extra-groups': groups }),
    },
  });
  const file = join(dir, `${name}-bootstrap.kubeconfig`);
  const text = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority': pki.ca.cert } }],
    users: [{ name: 'u', user: { token: `${id}.${secret}` } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  };
  await writeFile(file, JSON.stringify(text), { mode: 0o600 });
  const flags = ['--kubeconfig', kubeconfigOf(name), '--bootstrap-kubeconfig', file];
  return cluster.addNode({ name, flags, config: { ...config } });
}

const kubeconfigOf = (name: string): string => join(cluster.plane().dir, `${name}.kubeconfig`);

/** The first request that fits, once it is there. */
const request = (what: string, fits: (request: Request) => boolean) =>
  waitFor(what, async () => (await cluster.plane().api.list<Request>(REQUESTS)).find(fits));

/** The certificate that the kubelet server shows. */
function served(node: ClusterNode): Promise<X509Certificate> {
  const ca = readFileSync(cluster.plane().pki.ca.cert);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: node.address, port: node.ports.port, ca });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate();
      socket.destroy();
      if (certificate === undefined) reject(new Error('no certificate'));
      else resolve(certificate);
    });
  });
}

async function mustBeSecret(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!/\.(pem|key|tmp)$/.test(name)) continue;
    assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600, name);
  }
}

test('a node with a bootstrap token only gets its certificates: client at once, serving when approved', async () => {
  const config = { rotateCertificates: true, serverTLSBootstrap: true, tlsCertFile: '', tlsPrivateKeyFile: '' };
  const node = await bootstrap('auto', AUTO, config);
  const pki = join(node.agentRoot, 'pki');
  const client = join(pki, 'kubelet-client-current.pem');
  assert.match(await readFile(kubeconfigOf('auto'), 'utf8'), new RegExp(`client-certificate: ${client}\\n`));
  assert.match(await readlink(client), /kubelet-client-\d{4}(-\d\d){5}\.pem$/);
  const first = await request('the request for the client certificate', (each) =>
    each.spec.signerName.endsWith('kube-apiserver-client-kubelet'),
  );
  assert.equal(first.spec.username, 'system:bootstrap:auto00');
  assert.deepEqual(first.spec.usages, ['digital signature', 'client auth']);

  const serving = await request('the request for the serving certificate', (each) =>
    each.spec.signerName.endsWith('kubelet-serving'),
  );
  assert.equal(serving.spec.username, 'system:node:auto');
  assert.deepEqual(serving.spec.usages, ['digital signature', 'server auth']);
  await assert.rejects(served(node), /alert internal error/);
  await cluster.plane().kubectl.run(['certificate', 'approve', serving.metadata.name]);
  const certificate = await waitFor(
    'the signed serving certificate',
    () => served(node),
    () => node.explain(),
  );
  assert.match(certificate.subject, /O=system:nodes\nCN=system:node:auto/);
  assert.equal(certificate.subjectAltName, `DNS:auto, IP Address:${node.address}`);
  await mustBeSecret(pki);

  // the next start needs neither token nor request
  const count = (await cluster.plane().api.list(REQUESTS)).length;
  await cluster.plane().api.delete('/api/v1/namespaces/kube-system/secrets/bootstrap-token-auto00');
  await node.restart();
  const again = await waitFor(
    'the serving certificate after the restart',
    () => served(node),
    () => node.explain(),
  );
  assert.equal(again.fingerprint256, certificate.fingerprint256);
  await node.waitReady();
  assert.equal((await cluster.plane().api.list(REQUESTS)).length, count);
});

test('without rotation the agent waits for the approval of its request, which it finds again', async () => {
  const starting = bootstrap('manual', '', { rotateCertificates: false });
  const approved = (async () => {
    const open = await request('the request', (each) => each.spec.username === 'system:bootstrap:manual');
    assert.match(open.metadata.name, /^node-csr-[\w-]{43}$/);
    await cluster.plane().kubectl.run(['certificate', 'approve', open.metadata.name]);
  })();
  const [node] = await Promise.all([starting, approved]);
  const pki = join(node.agentRoot, 'pki');
  assert.ok((await readdir(pki)).includes('kubelet-client-current.pem'));
  assert.ok(!(await readdir(pki)).includes('kubelet-client.key.tmp'));
  await mustBeSecret(pki);
});
