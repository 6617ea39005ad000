import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import { containerEnv } from '../../../machines/container-config/env.ts';
import { nodeSettings } from '../qos/node-settings.ts';

type Env = NonNullable<Container['env']>;
const settings = nodeSettings({ nodeIPs: ['192.168.0.2', 'fd00::2'] });
const pod: Pod = {
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'u-1',
    labels: { app: 'web', tier: 'front' },
    annotations: { 'example.com/note': 'hi' },
  },
  spec: {
    serviceAccountName: 'sa',
    containers: [{ name: 'a' }, { name: 'b', resources: { limits: { cpu: '250m', memory: '64Mi' } } }],
    initContainers: [{ name: 'i' }],
  },
};

function envOf(env: Env, container: Partial<Container> = {}, p: Pod = pod): Record<string, string> | string {
  const made = containerEnv(p, { name: 'a', ...container, env }, ['fd00::9', '10.0.0.9'], settings, {});
  return 'error' in made ? made.error.message : Object.fromEntries(made.envs.map(({ key, value }) => [key, value]));
}
const field = (fieldPath: string, apiVersion?: string): string => {
  const made = envOf([{ name: 'X', valueFrom: { fieldRef: { fieldPath, apiVersion } } }]);
  return typeof made === 'string' ? `error: ${made}` : (made['X'] ?? '');
};

test('fields of the pod', () => {
  const cases: Record<string, string> = {
    'metadata.name': 'web',
    'metadata.namespace': 'shop',
    'metadata.uid': 'u-1',
    'metadata.labels': 'app="web"\ntier="front"',
    "metadata.labels['app']": 'web',
    "metadata.labels['none']": '',
    "metadata.annotations['example.com/note']": 'hi',
    'spec.nodeName': 'node-1',
    'spec.serviceAccountName': 'sa',
    'status.hostIP': '192.168.0.2',
    'status.hostIPs': '192.168.0.2,fd00::2',
    'status.podIP': '10.0.0.9',
    'status.podIPs': '10.0.0.9,fd00::9',
    'spec.restartPolicy': 'error: unsupported fieldPath: spec.restartPolicy',
    'spec.nope': 'error: field label not supported: spec.nope',
    "metadata.name['x']": "error: field label does not support subscript: metadata.name['x']",
  };
  for (const [path, want] of Object.entries(cases)) assert.equal(field(path), want, path);
  assert.equal(field('metadata.name', 'v2'), 'error: unsupported pod version: v2');
  assert.match(
    field("metadata.labels['-x']"),
    /^error: invalid key subscript in metadata.labels\['-x'\]: name part must/,
  );
});

test('resources, with the node’s allocatable or the pod’s limits where there is no limit', () => {
  const value = (resource: string, divisor?: string, containerName?: string, p: Pod = pod): unknown => {
    const made = envOf([{ name: 'X', valueFrom: { resourceFieldRef: { resource, divisor, containerName } } }], {}, p);
    return typeof made === 'string' ? made : made['X'];
  };
  assert.equal(value('limits.cpu'), '4');
  assert.equal(value('limits.cpu', '1m'), '4000');
  assert.equal(value('limits.memory', '1Mi'), '7168');
  assert.equal(value('requests.cpu'), '0');
  assert.equal(value('limits.cpu', undefined, 'b'), '1');
  assert.equal(value('limits.cpu', '1m', 'b'), '250');
  assert.equal(value('limits.memory', '1', 'b'), '67108864');
  assert.equal(value('limits.memory', '1G', 'b'), '1');
  assert.equal(value('limits.cpu', '0', 'i'), '0');
  assert.equal(value('limits.cpu', '1', 'none'), 'container none not found');
  assert.equal(value('limits.gpu'), 'unsupported container resource : limits.gpu');
  const podLevel: Pod = { ...pod, spec: { containers: [{ name: 'a' }], resources: { limits: { cpu: '2' } } } };
  assert.equal(value('limits.cpu', '1', undefined, podLevel), '2');
});

test('references see what stands before them; the last value wins at the first place', () => {
  const made = containerEnv(
    pod,
    {
      name: 'a',
      env: [
        { name: 'A', value: '1' },
        { name: 'B', value: '$(A)-$(LATER)-$$(A)' },
        { name: 'LATER', value: 'x' },
        { name: 'A', value: '2$(A)' },
        { name: 'EMPTY' },
        { name: 'toString', value: '$(constructor)' },
      ],
    },
    [],
    settings,
    {},
  );
  assert.deepEqual(made, {
    envs: [
      { key: 'A', value: '21' },
      { key: 'B', value: '1-$(LATER)-$(A)' },
      { key: 'LATER', value: 'x' },
      { key: 'EMPTY', value: '' },
      { key: 'toString', value: '$(constructor)' },
    ],
  });
});

test('config maps and secrets fail as on a kubelet without an API server', () => {
  const want = (kind: string): string => `couldn't get ${kind} shop/x, no kubeClient defined`;
  assert.equal(
    envOf([{ name: 'X', valueFrom: { configMapKeyRef: { name: 'x', key: 'k', optional: true } } }]),
    want('configMap'),
  );
  assert.equal(envOf([{ name: 'X', valueFrom: { secretKeyRef: { name: 'x', key: 'k' } } }]), want('secret'));
  assert.equal(envOf([], { envFrom: [{ configMapRef: { name: 'x' } }] }), want('configMap'));
  assert.equal(envOf([], { envFrom: [{ secretRef: { name: 'x' } }] }), want('secret'));
});

test('property: one entry a name, in order of first appearance, the same each time', () => {
  const variable = fc.record({ name: fc.constantFrom('A', 'B', 'C', 'D'), value: fc.string() });
  fc.assert(
    fc.property(fc.array(variable), (env) => {
      const make = (): unknown => containerEnv(pod, { name: 'a', env }, [], settings, {});
      const made = containerEnv(pod, { name: 'a', env }, [], settings, {});
      assert.ok('envs' in made);
      assert.deepEqual(
        made.envs.map(({ key }) => key),
        [...new Set(env.map(({ name }) => name))],
      );
      assert.deepEqual(make(), made);
    }),
  );
});
