import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnswers } from '../../../actors/cluster/objects/answer.ts';
import { codedError } from '../../../actors/cluster/objects/object-errors.ts';
import { ServiceVariables } from '../../../actors/cluster/objects/service-variables.ts';
import { ApiStatusError } from '../../../actors/cluster/api/api-client.ts';
import { apiBench } from './objects-bench.ts';

const SERVICES = { group: '', version: 'v1', resource: 'services' };

const service = (namespace: string, name: string, clusterIP: string) => ({
  metadata: { namespace, name, labels: { big: 'x'.repeat(100) } },
  spec: { clusterIP, ports: [{ port: 80, protocol: 'TCP' }] },
});

test('variables follow the services; one watch for all namespaces', async (t) => {
  const { server, api, log } = await apiBench(t);
  server.put(SERVICES, service('default', 'kubernetes', '10.0.0.1'));
  const services = new ServiceVariables({ api, log });
  t.after(() => {
    services.stop();
  });
  services.start();
  const hosts = async () =>
    (await services.env('team', true)).filter(({ key }) => key.endsWith('_SERVICE_HOST')).map(({ key }) => key);
  assert.deepEqual(await hosts(), ['KUBERNETES_SERVICE_HOST']);
  server.put(SERVICES, service('team', 'web', '10.0.0.2'));
  server.put(SERVICES, service('team', 'headless', 'None'));
  while ((await hosts()).length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(await hosts(), ['KUBERNETES_SERVICE_HOST', 'WEB_SERVICE_HOST']);
  assert.equal(server.openWatches('services'), 1);
});

test('before the first list an ask waits a while, then fails in the words of kubelet', async (t) => {
  const { server, api, log } = await apiBench(t);
  const lift = server.fault({ verb: 'list', resource: 'services' }, { do: 'fail', code: 503 });
  const services = new ServiceVariables({ api, log, firstListTimeoutMs: 40 });
  t.after(() => {
    services.stop();
  });
  services.start();
  await assert.rejects(services.env('default', true), {
    code: 'NotSynced',
    message: 'services have not yet been read at least once, cannot construct envvars',
  });
  assert.deepEqual(services.known('default', true), [], 'a static pod does not wait: the API server may be one');
  lift();
});

test('answers go to the right part, and each failure has a code', async () => {
  const token = { namespace: 'n', serviceAccount: 's', podName: 'p', podUid: 'u', audience: '', expirationSeconds: 1 };
  const ask = createAnswers({
    objects: {
      get: (kind, namespace, name) =>
        Promise.resolve({ data: { at: kind + namespace + name }, binaryData: {}, type: '' }),
    },
    tokens: { get: () => Promise.reject(new ApiStatusError(403, 'Forbidden', 'no')) },
    runtimeClasses: { handler: () => Promise.resolve(null) },
    trustBundles: { get: ({ name = '' }) => Promise.resolve(`bundle ${name}`) },
    certificates: {
      get: (podUid, volume, index) => Promise.reject(codedError('NoCertificate', `${podUid} ${volume} ${index}`)),
    },
    services: {
      env: () => {
        throw new TypeError('broken');
      },
      known: () => [{ key: 'A', value: 'known' }],
    },
  });
  const { found } = await ask('object.Get', { kind: 'secret', namespace: 'n', name: 'a' });
  assert.deepEqual(found?.data, { at: 'secretna' });
  assert.deepEqual(await ask('trustBundle.Get', { name: 'ca', optional: false }), { pem: 'bundle ca' });
  const about = { podUid: 'u', volume: 'v', index: 1 };
  await assert.rejects(ask('podCertificate.Get', about), { code: 'NoCertificate', message: 'u v 1' });
  await assert.rejects(ask('token.Get', token), { code: 'Forbidden', message: 'no' });
  await assert.rejects(ask('services.Env', { namespace: 'n', enableServiceLinks: true }), { code: 'Unknown' });
});
