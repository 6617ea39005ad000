import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { matcherFor } from '../../../machines/images/registry-match.ts';

/** As test/tools/registry-match-vectors writes them; kubelet passes over what is `bad`. */
interface Vector {
  pattern: string;
  target: string;
  match?: boolean;
  bad?: boolean;
}
const file = new URL('./kubelet-registry-match-vectors.json', import.meta.url);
const locations = JSON.parse(readFileSync(file, 'utf8')) as Vector[];

test("locations cover what kubelet's URLsMatchStr covers", () => {
  assert.ok(locations.length > 400);
  for (const { pattern, target, match = false } of locations)
    assert.equal(matcherFor(target)(pattern), match, `${JSON.stringify(pattern)} on ${JSON.stringify(target)}`);
});

test('a pattern of many stars takes no longer than it is long', () => {
  // Each star multiplied the time: 9 of them took 14 s, so that whoever may write a secret could hold the node for ever.
  const host = `${'a'.repeat(63)}.example.com`;
  assert.equal(matcherFor(`${host}/x`)(`${'*a'.repeat(31)}*b.example.com`), false);
  assert.equal(matcherFor(`${host}/x`)(`${'*a'.repeat(31)}*.example.com`), true);
});

test('a registry whose name is longer than any name of DNS is covered by nothing', () => {
  const long = (length: number): string => 'a.'.repeat(128).slice(0, length);
  assert.equal(matcherFor(`${long(255)}/x`)(long(255)), true);
  assert.equal(matcherFor(`${long(256)}/x`)(long(256)), false);
  assert.equal(matcherFor(`${'a'.repeat(63)}.io/x`)('*.io'), true);
  assert.equal(matcherFor(`${'a'.repeat(64)}.io/x`)('*.io'), false);
});
