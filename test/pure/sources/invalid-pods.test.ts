/** Pods that are left out because another of their list has their name, as kubelet's filterInvalidPods tells of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { createPodSources } from '../../../actors/pods/sources/pod-sources.ts';

test('of two pods of one name in a list the second is told of as invalid, once; of two manifests nobody is', () => {
  const told: string[] = [];
  const sources = createPodSources({
    otherSources: ['http', 'file'],
    ...{ fileCheckFrequencyMs: 1_000, httpCheckFrequencyMs: 1_000, nodeName: 'n' },
    ...{ log: pino({ level: 'silent' }), now: () => 0, onUpdate: () => undefined, onError: () => undefined },
    onInvalid: ({ metadata }, message) => told.push(`${metadata?.uid ?? ''}: ${message}`),
  });
  const pod = (uid: string, name = 'web') => ({
    ...{ metadata: { uid, name, namespace: 'ns' }, spec: { containers: [] } },
  });
  const invalid = (uid: string) =>
    `${uid}: Error validating pod web_ns(${uid}) from http due to duplicate pod name "web", ignoring`;
  sources.setPods('http', [pod('a'), pod('b'), pod('c', 'other')]);
  assert.deepEqual(told.splice(0), [invalid('b')]);
  sources.setPods('http', [pod('a'), pod('b')]);
  assert.deepEqual(told, []);
  sources.setPods('http', [pod('a')]);
  sources.setPods('http', [pod('a'), pod('b')]);
  assert.deepEqual(told.splice(0), [invalid('b')]);
  sources.setPods('file', [pod('x'), pod('y')]);
  assert.deepEqual(told, [], 'a folder’s manifests are kept by name: the last counts');
  assert.deepEqual(
    sources.staticPods().map(({ metadata }) => metadata?.uid),
    ['a', 'y'],
  );
});
