import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selects } from '../../../machines/values/label-selector.ts';
import type { LabelSelector } from '../../../machines/values/label-selector.ts';

const labels = { ring: 'a', zone: '' };
const by = (key: string, operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [values.length === 0 ? { key, operator } : { key, operator, values }],
});

test('no selector takes nothing, an empty one everything', () => {
  assert.equal(selects(undefined, labels), false);
  assert.equal(selects({}, labels), true);
  assert.equal(selects({}, {}), true);
});

test('all labels and all expressions must hold', () => {
  assert.equal(selects({ matchLabels: { ring: 'a', zone: '' } }, labels), true);
  assert.equal(selects({ matchLabels: { ring: 'a', other: '' } }, labels), false);
  assert.equal(selects({ matchLabels: { toString: '' } }, labels), false);
  assert.equal(selects({ matchLabels: { ring: 'a' }, ...by('ring', 'NotIn', 'a') }, labels), false);
  for (const [selector, wanted] of [
    [by('ring', 'In', 'b', 'a'), true],
    [by('ring', 'In', 'b'), false],
    [by('other', 'In', ''), false],
    [by('ring', 'NotIn', 'b'), true],
    [by('other', 'NotIn', 'b'), true],
    [by('zone', 'Exists'), true],
    [by('other', 'Exists'), false],
    [by('zone', 'DoesNotExist'), false],
    [by('other', 'DoesNotExist'), true],
    [by('ring', 'Gt', '0'), false],
  ] as const)
    assert.equal(selects(selector, labels), wanted, JSON.stringify(selector));
});
