import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { containerHash } from '../../../machines/container-config/container-hash.ts';
import { metadataFieldValue } from '../../../machines/container-config/downward-fields.ts';
import { expand, expandFrom } from '../../../machines/container-config/expansion.ts';

interface Vectors {
  hash: { name: string; image: string; hash: string }[];
  expand: { in: string; out: string }[];
  formatMap: { map: Record<string, string>; text: string }[];
}
const vectors = JSON.parse(readFileSync(new URL('./kubelet-vectors.json', import.meta.url), 'utf8')) as Vectors;

test('container hashes are the kubelet’s, bit for bit', () => {
  assert.ok(vectors.hash.length >= 11);
  for (const { name, image, hash } of vectors.hash) assert.equal(containerHash({ name, image }), hash, name);
  // Nothing else of the container counts.
  const more = { name: 'web', image: 'nginx', env: [{ name: 'A', value: 'b' }] };
  assert.equal(containerHash(more), containerHash({ name: 'web', image: 'nginx' }));
});

test('$(VAR) expansion is the kubelet’s', () => {
  const values = new Map([
    ['A', '1'],
    ['B', '$(A)'],
    ['EMPTY', ''],
  ]);
  assert.ok(vectors.expand.length >= 20);
  for (const { in: text, out } of vectors.expand) assert.equal(expandFrom(text, values), out, JSON.stringify(text));
});

test('labels and annotations as a whole are the kubelet’s', () => {
  for (const { map, text } of vectors.formatMap) {
    assert.deepEqual(metadataFieldValue('metadata.labels', { metadata: { labels: map } }), { value: text });
  }
});

test('property: text without $ stays, escaped text comes back, every reference is looked up once', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const plain = text.replaceAll('$', '');
      assert.equal(expandFrom(plain, new Map()), plain);
      assert.equal(expandFrom(text.replaceAll('$', '$$$$'), new Map()), text);
    }),
  );
  const name = fc.stringMatching(/^[A-Z_]{1,6}$/);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.stringMatching(/^[^$]*$/), name)), (parts) => {
      const asked: string[] = [];
      const text = parts.map(([before, ref]) => `${before}$(${ref})`).join('');
      const out = expand(text, (ref) => {
        asked.push(ref);
        return `<${ref}$(X)$$>`;
      });
      assert.deepEqual(
        asked,
        parts.map(([, ref]) => ref),
      );
      assert.equal(out, parts.map(([before, ref]) => `${before}<${ref}$(X)$$>`).join(''));
    }),
  );
});
