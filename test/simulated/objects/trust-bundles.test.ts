import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { TrustBundles } from '../../../actors/cluster/objects/trust-bundles.ts';
import { pemBlocks } from '../../../machines/values/pem.ts';
import { until } from '../../tools/wait-for.ts';
import { apiBench } from './objects-bench.ts';

const on = (version: string) => ({ group: 'certificates.k8s.io', version, resource: 'clustertrustbundles' });
const LIST = { resource: 'clustertrustbundles' } as const;
const NONE = { message: 'ClusterTrustBundle projection is not supported in static kubelet mode' };

const pem = (...bodies: string[]): string =>
  bodies.map((body) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`).join('');
const bundle = (name: string, trustBundle: string, signerName?: string, labels = {}) => ({
  ...{ metadata: { name, labels, uid: name }, spec: { signerName, trustBundle } },
});

async function bench(t: TestContext) {
  const made = await apiBench(t);
  const refreshed: string[] = [];
  const { api, log } = made;
  const bundles = new TrustBundles({ api, log, refresh: (uid) => refreshed.push(uid) });
  t.after(() => bundles.stop());
  const shows = (uid: string, clusterTrustBundle: object): void =>
    bundles.register({
      metadata: { uid },
      spec: {
        containers: [],
        volumes: [
          { name: 'v', projected: { sources: [{ clusterTrustBundle: { path: 'p', ...clusterTrustBundle } }] } },
        ],
      },
    });
  return { ...made, bundles, refreshed, shows };
}

test('by name, by signer and selector; each certificate once, always in the same order', async (t) => {
  const { server, bundles } = await bench(t);
  server.put(on('v1beta1'), bundle('plain', pem('QUFB', 'QkJC')));
  server.put(on('v1beta1'), bundle('s:x:1', pem('QUFB', 'Q0ND'), 's/x', { ring: 'a' }));
  server.put(on('v1beta1'), bundle('s:x:2', pem('QUFB', 'RERE'), 's/x', { ring: 'b' }));
  server.put(on('v1beta1'), bundle('s:y:1', pem('RUVF'), 's/y'));
  const blocks = async (wish: Parameters<TrustBundles['get']>[0]) => pemBlocks(await bundles.get(wish)).sort();
  assert.deepEqual(await blocks({ name: 'plain', optional: false }), ['QUFB', 'QkJC']);
  const signer = { signerName: 's/x', optional: false };
  assert.deepEqual(await blocks({ ...signer, labelSelector: {} }), ['Q0ND', 'QUFB', 'RERE']);
  assert.deepEqual(await blocks({ ...signer, labelSelector: { matchLabels: { ring: 'b' } } }), ['QUFB', 'RERE']);
  assert.equal(
    await bundles.get({ ...signer, labelSelector: {} }),
    await bundles.get({ ...signer, labelSelector: { matchExpressions: [{ key: 'ring', operator: 'Exists' }] } }),
  );
  const message = 'combination of signerName and labelSelector matched zero ClusterTrustBundles';
  await assert.rejects(bundles.get(signer), { message }, 'no selector takes nothing');
  assert.equal(await bundles.get({ ...signer, optional: true }), '');
  await assert.rejects(bundles.get({ name: 'none', optional: false }), {
    message: 'while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "none" not found',
  });
  assert.equal(await bundles.get({ name: 'none', optional: true }), '');
  await until(() => server.openWatches('clustertrustbundles') === 1);
  assert.equal(server.requestsOf({ ...LIST, verb: 'watch' }).length, 1, 'one watch for all');
});

test('pods that show a bundle hear of its changes, others do not', async (t) => {
  const { server, bundles, refreshed, shows } = await bench(t);
  server.put(on('v1beta1'), bundle('plain', pem('QUFB')));
  shows('by-name', { name: 'plain' });
  shows('by-signer', { signerName: 's/x' });
  shows('gone', { name: 'plain' });
  bundles.forget('gone');
  await bundles.get({ name: 'plain', optional: false });
  await until(() => server.openWatches('clustertrustbundles') === 1);
  assert.deepEqual(refreshed, []);
  server.put(on('v1beta1'), bundle('s:x:1', pem('QUFB'), 's/x'));
  await until(() => refreshed.length === 1);
  server.remove(on('v1beta1'), 'plain');
  await until(() => refreshed.length === 2);
  assert.deepEqual(refreshed, ['by-signer', 'by-name']);
});

test('an older API is taken; without any it is asked again by whoever comes next', async (t) => {
  const { server, bundles } = await bench(t);
  const version = (path: string): boolean => path.includes('/v1beta1/');
  let none = true;
  server.reply({ ...LIST, verb: 'list' }, ({ path }) =>
    none || version(path)
      ? { code: 404, body: { kind: 'Status', reason: 'NotFound', code: 404 } }
      : { code: 200, body: { metadata: { resourceVersion: '5' }, items: [bundle('old', pem('QUFB'))] } },
  );
  await assert.rejects(bundles.get({ name: 'old', optional: true }), NONE);
  none = false;
  assert.deepEqual(pemBlocks(await bundles.get({ name: 'old', optional: false })), ['QUFB']);
});
