import assert from 'node:assert/strict';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { runs } from '../containerd/agent/support/test-pod.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Pod } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { filesThatHold } from './support/everything-written.ts';
import { apiPod } from './support/manifests.ts';
import { Pki } from '../../bin/control-plane/pki.ts';
import { PodSigner, SIGNERS } from './support/pod-signer.ts';
import { isReadyPod, uidOf } from './support/seen-pods.ts';
import type { Space } from './support/space.ts';

const NODE = 'notary';
const GATES = ['ClusterTrustBundle', 'ClusterTrustBundleProjection', 'PodCertificateRequest'];
const BUNDLES = '/apis/certificates.k8s.io/v1beta1/clustertrustbundles';

let signer: PodSigner | undefined;
/** Texts of keys that pods got, which nothing may hold but their volumes. */
const keys: string[] = [];

const cluster = withCluster({
  nodes: [{ name: NODE, config: { featureGates: Object.fromEntries(GATES.map((gate) => [gate, true])) } }],
  plane: {
    apiServerFlags: [
      ...['--feature-gates', GATES.map((gate) => `${gate}=true`).join(',')],
      ...['--runtime-config', 'certificates.k8s.io/v1beta1=true'],
    ],
  },
  prepare: (fixture) => {
    signer = new PodSigner(fixture.plane());
    return Promise.resolve();
  },
});
after(async () => {
  await signer?.stop();
  assert.deepEqual(signer?.failures, []);
});

const projected = (name: string, ...sources: object[]) => ({ name, projected: { sources } });
const mounts = (...names: string[]) => ({ volumeMounts: names.map((name) => ({ name, mountPath: `/${name}` })) });
const sh = (pod: Pod, script: string) => cluster.node(NODE).sh(uidOf(pod), 'c', script);
const authority = (): Promise<string> => readFile(cluster.plane().pki.ca.cert, 'utf8');
async function otherAuthority(): Promise<string> {
  const other = await Pki.make(join(cluster.plane().dir, 'other-pki'));
  return readFile(other.ca.cert, 'utf8');
}

async function readyPod(space: Space, name: string, volumes: { name: string }[], more: object = {}): Promise<Pod> {
  await space.create(apiPod(name, [runs('c', mounts(...volumes.map((each) => each.name)))], { volumes, ...more }));
  return space.waitPod(name, 'ready', isReadyPod);
}

/** The certificates of a PEM text, in a fixed order. */
function certificates(pem: string): string[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? [];
  assert.equal(found.join(''), pem, 'nothing else is in it');
  return found.map((each) => new X509Certificate(each).fingerprint256).sort();
}

/** Key and certificates of a bundle; the key is the certificate's. */
function bundle(text: string): { key: string; leaf: X509Certificate } {
  const at = text.indexOf('-----BEGIN CERTIFICATE-----');
  const [key, leaf] = [text.slice(0, at), new X509Certificate(text.slice(at))];
  keys.push(key.split('\n')[1] ?? '');
  assert.ok(leaf.checkPrivateKey(createPrivateKey(key)));
  return { key, leaf };
}

describe('what the cluster vouches for', () => {
  test('trust bundles by name and by signer, kept up to date, and what happens when there is none', async () => {
    const { api } = cluster.plane();
    const space = await cluster.space('trust');
    const [first, second] = [await authority(), await otherAuthority()];
    const create = (name: string, labels: object, signerName: string | undefined, trustBundle: string) =>
      api.post(BUNDLES, { metadata: { name, labels }, spec: { signerName, trustBundle } });
    await create('plain', {}, undefined, `words before\n${first}words after\n`);
    await create('test.example:row:one', { ring: 'a' }, 'test.example/row', first);
    await create('test.example:row:two', { ring: 'b' }, 'test.example/row', second);
    await create('test.example:row:again', { ring: 'c' }, 'test.example/row', first);
    const selected = (labelSelector: object | undefined, path: string) => ({
      clusterTrustBundle: { signerName: 'test.example/row', labelSelector, path, optional: true },
    });
    const volumes = [
      projected('by-name', { clusterTrustBundle: { name: 'plain', path: 'deep/ca.pem' } }),
      projected(
        'by-signer',
        selected({ matchLabels: { ring: 'a' } }, 'a'),
        selected({}, 'all'),
        selected(undefined, 'none'),
        { clusterTrustBundle: { name: 'missing', path: 'missing', optional: true } },
      ),
    ];
    const pod = await readyPod(space, 'trusting', volumes, { securityContext: { fsGroup: 4711 } });
    const [one, two] = [certificates(first)[0] ?? '', certificates(second)[0] ?? ''];
    assert.deepEqual(certificates(await sh(pod, 'cat /by-name/deep/ca.pem')), [one]);
    assert.deepEqual(certificates(await sh(pod, 'cat /by-signer/a')), [one]);
    assert.deepEqual(certificates(await sh(pod, 'cat /by-signer/all')), [one, two].sort(), 'each once');
    assert.equal(await sh(pod, 'cat /by-signer/none /by-signer/missing; stat -Lc %a:%g /by-signer/a'), '640:4711\n');

    await api.patch(`${BUNDLES}/plain`, { spec: { trustBundle: second } });
    await waitFor('the file to change', async () =>
      certificates(await sh(pod, 'cat /by-name/deep/ca.pem'))[0] === two ? true : undefined,
    );
    await api.delete(`${BUNDLES}/test.example:row:two`);
    await waitFor('the other file to change', async () =>
      certificates(await sh(pod, 'cat /by-signer/all')).length === 1 ? true : undefined,
    );

    const late = projected('v', { clusterTrustBundle: { name: 'late', path: 'ca' } });
    await space.create(apiPod('waiting', [runs('c', mounts('v'))], { volumes: [late] }));
    await space.waitEvent(
      'waiting',
      'FailedMount',
      /^MountVolume\.SetUp failed for volume "v" : while getting ClusterTrustBundle: clustertrustbundle\.certificates\.k8s\.io "late" not found$/,
    );
    await create('late', {}, undefined, first);
    await space.waitPod('waiting', 'ready', isReadyPod);
  });

  test('a pod gets a key of each kind with a certificate for it, in one file or in two; a new agent gets it others', async () => {
    const space = await cluster.space('notary');
    const node = cluster.node(NODE);
    const source = (keyType: string, more: object) => ({
      podCertificate: { signerName: SIGNERS.issues, keyType, maxExpirationSeconds: 86_400, ...more },
    });
    const volumes = [
      projected('ec', source('ECDSAP256', { credentialBundlePath: 'bundle.pem' })),
      projected('ed', source('ED25519', { keyPath: 'key.pem', certificateChainPath: 'chain.pem' })),
      projected(
        'more',
        source('ECDSAP384', { credentialBundlePath: '384' }),
        source('ECDSAP521', { credentialBundlePath: '521', userAnnotations: { 'test.example/for': 'proof' } }),
        source('RSA3072', { credentialBundlePath: 'rsa' }),
      ),
    ];
    const pod = await readyPod(space, 'vouched', volumes, { securityContext: { runAsUser: 1234 } });
    const read = async (path: string) => bundle(await sh(pod, `cat ${path}`));
    const first = await read('/ec/bundle.pem');
    assert.equal(first.leaf.subject, 'CN=vouched');
    assert.ok(first.leaf.checkIssued(new X509Certificate(await authority())));
    assert.equal(first.leaf.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1');
    const pair = await read('/ed/key.pem /ed/chain.pem');
    assert.equal(pair.leaf.publicKey.asymmetricKeyType, 'ed25519');
    assert.equal((await read('/more/384')).leaf.publicKey.asymmetricKeyDetails?.namedCurve, 'secp384r1');
    assert.equal((await read('/more/521')).leaf.publicKey.asymmetricKeyDetails?.namedCurve, 'secp521r1');
    assert.equal((await read('/more/rsa')).leaf.publicKey.asymmetricKeyDetails?.modulusLength, 3072);
    assert.equal(await sh(pod, 'stat -Lc %a:%u /ec/bundle.pem /ed/key.pem'), '600:1234\n600:1234\n');
    const asked = (signer?.seen ?? []).filter(({ spec }) => spec.podUID === uidOf(pod));
    assert.equal(asked.length, 5, 'one request for each source');
    assert.ok(asked.every(({ spec }) => spec.nodeName === NODE && spec.signerName === SIGNERS.issues));
    const annotated = asked.filter(({ spec }) => spec.unverifiedUserAnnotations !== undefined);
    assert.deepEqual(annotated[0]?.spec.unverifiedUserAnnotations, { 'test.example/for': 'proof' });
    assert.deepEqual(asked[0]?.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Pod', name: 'vouched', uid: uidOf(pod) },
    ]);
    const served = await waitFor('the metrics', () => node.readOnly('/metrics'));
    assert.match(
      served,
      /kubelet_podcertificate_states\{[^}]*signer_name="test\.example\/issues"[^}]*state="fresh"[^}]*\} 5/,
    );

    await node.restart();
    await node.waitReady();
    await waitFor('another key', async () => ((await read('/ec/bundle.pem')).key === first.key ? undefined : true));
  });

  test('a signer that says no: the pod waits, and is told why', async () => {
    const space = await cluster.space('refused');
    for (const [name, signerName] of Object.entries(SIGNERS).filter(([each]) => each !== 'issues')) {
      const source = { podCertificate: { signerName, keyType: 'ED25519', credentialBundlePath: 'b' } };
      await space.create(apiPod(name, [runs('c', mounts('v'))], { volumes: [projected('v', source)] }));
    }
    await space.waitEvent('denies', 'Denied', /was denied, reason="Stranger", message="who is \\"that\\"\?"$/);
    await space.waitEvent('fails', 'Failed', /PodCertificateRequest refused-\d+\/req-\w+ failed, reason="NoInk"/);
    for (const [name, text] of [
      ['denies', 'permanently denied: reason="Stranger" message="who is \\\\"that\\\\"\\?"$'],
      ['fails', 'permanently failed: reason="NoInk" message="the pen is dry"$'],
    ] as const) {
      const wanted = `^MountVolume\\.SetUp failed for volume "v" : PodCertificateRequest was ${text}`;
      await space.waitEvent(name, 'FailedMount', new RegExp(wanted));
    }
  });

  test('no key is in a log, a journal or an event', async () => {
    const node = cluster.node(NODE);
    assert.ok(keys.length >= 5, 'the tests before this one have read keys');
    // a restart makes a journal segment that is closed and compressed
    await node.restart();
    await node.waitReady();
    const skip = (path: string) => path === join(node.dir, 'containerd') || path === join(node.agentRoot, 'pods');
    assert.notDeepEqual(await filesThatHold(node.dir, ['vouched'], skip), [], 'the search finds what is there');
    assert.deepEqual(await filesThatHold(node.dir, keys, skip), []);
    const events = JSON.stringify(await cluster.plane().api.list('/api/v1/events'));
    assert.ok(!keys.some((key) => events.includes(key)));
  });
});
