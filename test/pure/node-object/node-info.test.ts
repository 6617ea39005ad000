import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeAddresses, providedAddresses } from '../../../machines/node-object/node-addresses.ts';
import { imagesOf, nodeInfoOf, runtimeVersionText } from '../../../machines/node-object/node-info.ts';
import { initialCsiNode, reconciledCsiNode } from '../../../machines/node-object/csi-node.ts';
import { microTime, renewedLease } from '../../../machines/node-object/node-lease.ts';
import { nodeObjectConfigOf } from '../../../actors/cluster/node-object/node-object-config.ts';
import type { KubeletFlags } from '../../../actors/configure/configuration/kubelet-flags.ts';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { configOf, factsOf } from './facts.ts';

test('runtime versions are printed as kubelet prints them', () => {
  const texts = {
    '1.6.20~ds1': '1.6.20',
    'v2.1.0': '2.1.0',
    '1.7.2-rc.1+x': '1.7.2-rc.1+x',
    '1.30': '1.30',
    'git-abc': 'Unknown',
    '': 'Unknown',
  };
  for (const [version, text] of Object.entries(texts)) assert.equal(runtimeVersionText(version), text, version);
});

test('swap is told when there is some', () => {
  const { machine, runtime } = factsOf();
  assert.equal(nodeInfoOf(machine, runtime, configOf()).swap, undefined);
  assert.deepEqual(nodeInfoOf({ ...machine, swapBytes: 4096 }, runtime, configOf()).swap, { capacity: 4096 });
});

test('DisableNodeKubeProxyVersion: on, the version of kube-proxy is empty; off, it is the one of kubelet', () => {
  const { machine, runtime } = factsOf();
  const { config } = loadConfiguration({ flags: [], cgroupVersion: 2 });
  const flags = { nodeLabels: {}, cloudProvider: '' } as unknown as KubeletFlags;
  const told = (featureGates: Record<string, boolean>) => {
    const shape = nodeObjectConfigOf('n', { ...config, featureGates }, flags);
    return [nodeInfoOf(machine, runtime, shape).kubeProxyVersion, shape.kubeletVersion];
  };
  assert.equal(told({})[0], '');
  const [proxy, kubelet] = told({ DisableNodeKubeProxyVersion: false });
  assert.equal(proxy, kubelet);
  assert.match(proxy ?? '', /^v1\.35/);
});

test('the largest images, five names each, digests first', () => {
  const images = [1, 3, 2].map((n) => ({
    id: `sha256:${String(n)}`,
    repoTags: ['t1', 't2', 't3'].map((t) => `i${String(n)}:${t}`),
    repoDigests: ['d1', 'd2', 'd3'].map((d) => `i${String(n)}@${d}`),
    sizeBytes: n,
  }));
  assert.deepEqual(imagesOf(images, 2), [
    { names: ['i3@d1', 'i3@d2', 'i3@d3', 'i3:t1', 'i3:t2'], sizeBytes: 3 },
    { names: ['i2@d1', 'i2@d2', 'i2@d3', 'i2:t1', 'i2:t2'], sizeBytes: 2 },
  ]);
  assert.equal(imagesOf(images, -1).length, 3);
  assert.equal(imagesOf(images, 0).length, 0);
});

test('equally large images stand in one order, however the runtime lists them', () => {
  const images = ['a', 'c', 'b'].map((id) => ({ id, repoTags: [id], repoDigests: [], sizeBytes: 1 }));
  const names = (listed: typeof images) => imagesOf(listed, 2).flatMap((image) => image.names);
  assert.deepEqual(names(images), ['c', 'b']);
  assert.deepEqual(names(images.toReversed()), ['c', 'b']);
});

const base = { hostname: 'n', externalCloudProvider: false, given: [] as string[], found: '192.0.2.1' };
const ip = (address: string) => ({ type: 'InternalIP', address });
const name = { type: 'Hostname', address: 'n' };

test('addresses: given ones, found ones, and those that a cloud controller wrote', () => {
  assert.deepEqual(nodeAddresses([], base), [ip('192.0.2.1'), name]);
  assert.deepEqual(nodeAddresses([], { ...base, given: ['192.0.2.7', '2001:db8::7'] }), [
    ip('192.0.2.7'),
    ip('2001:db8::7'),
    name,
  ]);
  assert.deepEqual(nodeAddresses([], { ...base, given: ['0.0.0.0'] }), [ip('192.0.2.1'), name]);
  assert.equal(nodeAddresses([], { ...base, found: null }), null);
  const cloud = { ...base, externalCloudProvider: true };
  const theirs = [ip('198.51.100.1'), { type: 'ExternalIP', address: '203.0.113.1' }];
  assert.deepEqual(nodeAddresses(theirs, cloud), theirs);
  assert.deepEqual(nodeAddresses([], cloud), [name]);
  assert.deepEqual(nodeAddresses([], { ...cloud, given: ['192.0.2.7'] }), [ip('192.0.2.7'), name]);
  assert.equal(providedAddresses(cloud), undefined);
  assert.equal(providedAddresses({ ...cloud, given: ['192.0.2.7', '2001:db8::7'] }), '192.0.2.7,2001:db8::7');
  assert.equal(providedAddresses({ ...base, given: ['192.0.2.7'] }), undefined);
});

test('a lease keeps its owner and its own fields when it is renewed', () => {
  const node = { name: 'n', uid: 'u1' };
  const first = renewedLease(null, node, 40, 0);
  assert.deepEqual(first, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: 'n',
      namespace: 'kube-node-lease',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u1' }],
    },
    spec: { holderIdentity: 'n', leaseDurationSeconds: 40, renewTime: '1970-01-01T00:00:00.000000Z' },
  });
  const again = renewedLease(
    { ...first, metadata: { ...first.metadata, resourceVersion: '7' } },
    { name: 'n', uid: 'u2' },
    20,
    1500.25,
  );
  assert.equal(again.metadata.resourceVersion, '7');
  assert.equal(again.metadata.ownerReferences?.[0]?.uid, 'u1');
  assert.deepEqual([again.spec.leaseDurationSeconds, again.spec.renewTime], [20, '1970-01-01T00:00:01.500250Z']);
  assert.equal(microTime(0.001), '1970-01-01T00:00:00.000001Z');
});

test('a CSINode with the right annotation is left alone', () => {
  const fresh = initialCsiNode('n', 'u1');
  assert.equal(reconciledCsiNode(fresh), null);
  const old = {
    ...fresh,
    metadata: { ...fresh.metadata, annotations: { mine: '1' } },
    spec: { drivers: [{ name: 'd' }] },
  };
  const right = reconciledCsiNode(old);
  assert.deepEqual(right?.spec, old.spec);
  assert.deepEqual(right?.metadata.annotations, { ...fresh.metadata.annotations, mine: '1' });
});
