import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { serviceEnv } from '../../../machines/services/service-env.ts';
import type { ServiceView } from '../../../machines/services/service-env.ts';

const port = (number: number, name = '', protocol = 'TCP') => ({ name, port: number, protocol });
const service = (namespace: string, name: string, clusterIP: string, ...ports: ServiceView['ports']): ServiceView => ({
  namespace,
  name,
  clusterIP,
  ports,
});
const kubernetes = service('default', 'kubernetes', '10.0.0.1', port(443, 'https'));
const written = (services: ServiceView[], namespace: string, links: boolean) =>
  serviceEnv(services, namespace, links).map(({ key, value }) => `${key}=${value}`);

// The expected values are those of kubelet's own test of FromServices, by their rules.
test('host, ports and links in the style of Docker', () => {
  const services = [service('a', 'foo-bar', '1.2.3.4', port(8080, 'p-one'), port(53, '', 'UDP'))];
  assert.deepEqual(written(services, 'a', true), [
    'FOO_BAR_SERVICE_HOST=1.2.3.4',
    'FOO_BAR_SERVICE_PORT=8080',
    'FOO_BAR_SERVICE_PORT_P_ONE=8080',
    'FOO_BAR_PORT=tcp://1.2.3.4:8080',
    'FOO_BAR_PORT_8080_TCP=tcp://1.2.3.4:8080',
    'FOO_BAR_PORT_8080_TCP_PROTO=tcp',
    'FOO_BAR_PORT_8080_TCP_PORT=8080',
    'FOO_BAR_PORT_8080_TCP_ADDR=1.2.3.4',
    'FOO_BAR_PORT_53_UDP=udp://1.2.3.4:53',
    'FOO_BAR_PORT_53_UDP_PROTO=udp',
    'FOO_BAR_PORT_53_UDP_PORT=53',
    'FOO_BAR_PORT_53_UDP_ADDR=1.2.3.4',
  ]);
});

test('an IPv6 address stands in brackets in URLs only', () => {
  const all = written([service('a', 'six', '2001:db8::1', port(80))], 'a', true);
  assert.ok(all.includes('SIX_SERVICE_HOST=2001:db8::1'));
  assert.ok(all.includes('SIX_PORT=tcp://[2001:db8::1]:80'));
  assert.ok(all.includes('SIX_PORT_80_TCP_ADDR=2001:db8::1'));
});

test('headless and external services have none', () => {
  assert.deepEqual(written([service('a', 'h', 'None', port(80)), service('a', 'e', '', port(80))], 'a', true), []);
});

test('without links only the master service of namespace default is seen, from everywhere', () => {
  const services = [
    service('a', 'web', '10.0.0.2', port(80)),
    service('default', 'db', '10.0.0.3', port(80)),
    kubernetes,
  ];
  const hosts = (namespace: string, links: boolean) =>
    written(services, namespace, links).filter((text) => text.includes('_SERVICE_HOST='));
  assert.deepEqual(hosts('a', false), ['KUBERNETES_SERVICE_HOST=10.0.0.1']);
  assert.deepEqual(hosts('a', true), ['KUBERNETES_SERVICE_HOST=10.0.0.1', 'WEB_SERVICE_HOST=10.0.0.2']);
  assert.deepEqual(hosts('default', false), ['KUBERNETES_SERVICE_HOST=10.0.0.1']);
  assert.deepEqual(hosts('default', true), ['DB_SERVICE_HOST=10.0.0.3', 'KUBERNETES_SERVICE_HOST=10.0.0.1']);
});

test("a service of the pod's namespace hides the master service of the same name, in any order", () => {
  const own = service('a', 'kubernetes', '10.0.0.9', port(1));
  for (const services of [
    [own, kubernetes],
    [kubernetes, own],
  ]) {
    const all = written(services, 'a', true);
    assert.ok(all.includes('KUBERNETES_SERVICE_HOST=10.0.0.9'));
    assert.ok(!all.some((text) => text.includes('10.0.0.1')));
    assert.ok(written(services, 'a', false).includes('KUBERNETES_SERVICE_HOST=10.0.0.1'));
  }
});

test('the order of the services does not matter, and each variable stands once', () => {
  const name = fc.constantFrom('a', 'b', 'a-b', 'kubernetes');
  const one = fc.record({
    namespace: fc.constantFrom('default', 'x'),
    name,
    clusterIP: fc.constantFrom('1.1.1.1', 'None', ''),
    ports: fc.array(fc.record({ name, port: fc.integer({ min: 1, max: 3 }), protocol: fc.constantFrom('TCP', 'UDP') })),
  });
  const services = fc.uniqueArray(one, { selector: (each) => `${each.namespace}/${each.name}` });
  fc.assert(
    fc.property(services, fc.boolean(), (all, links) => {
      const there = serviceEnv(all, 'x', links);
      assert.deepEqual(serviceEnv([...all].reverse(), 'x', links), there);
      assert.equal(new Set(there.map(({ key }) => key)).size, there.length);
    }),
  );
});
