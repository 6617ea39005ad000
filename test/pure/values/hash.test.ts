import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fnv32a, fnv32aOfBytes, fnv32aSeeded, mixed, utf8 } from '../../../machines/values/hash.ts';

/** From the test vectors of the FNV draft (draft-eastlake-fnv), 32 bit FNV-1a. */
const VECTORS: [string, number][] = [
  ['', 0x811c9dc5],
  ['a', 0xe40c292c],
  ['foobar', 0xbf9cf968],
];

test('FNV-1a as its authors publish it', () => {
  for (const [text, hash] of VECTORS) {
    assert.equal(fnv32a(text), hash, text);
    assert.equal(fnv32aOfBytes(text), hash, text);
  }
  assert.notEqual(fnv32a('ä'), fnv32aOfBytes('ä'));
});

test('property: a hash goes on where it stood', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.integer(), (a, b, seed) => {
      const start = fnv32aSeeded(seed);
      assert.equal(fnv32a(b, fnv32a(a, start)), fnv32a(a + b, start));
    }),
  );
});

test('property: UTF-8 is what the encoder makes of it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.deepEqual(utf8(text), [...new TextEncoder().encode(text)]);
    }),
  );
});

test('mixing is one to one and moves the low bits', () => {
  const of = Array.from({ length: 4096 }, (_, i) => mixed(i << 20));
  assert.equal(new Set(of).size, of.length);
  assert.ok(new Set(of.map((hash) => hash & 15)).size === 16);
});
