import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { matchesNode } from '../../../machines/admission/node-affinity.ts';
import { tolerates, untoleratedNoExecute } from '../../../machines/admission/admit-pod.ts';
import type { Toleration } from '../../../machines/admission/admit-pod.ts';
import { pod } from './admission-input.ts';

const LABELS = { zone: 'a', cores: '16', empty: '', 'example.com/x': 'y' };

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

function affine(terms: { matchExpressions?: Requirement[]; matchFields?: Requirement[] }[]): boolean {
  const required = { nodeSelectorTerms: terms };
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
  return matchesNode(pod('p', { affinity: { nodeAffinity } }), 'node-1', LABELS);
}

const EXPRESSIONS: [boolean, string, string, string[]?][] = [
  [true, 'zone', 'In', ['b', 'a']],
  [false, 'zone', 'In', ['b']],
  [false, 'zone', 'In', []],
  [false, 'zone', 'In'],
  [false, 'none', 'In', ['']],
  [true, 'empty', 'In', ['']],
  [true, 'zone', 'NotIn', ['b']],
  [false, 'zone', 'NotIn', ['a', 'b']],
  [true, 'none', 'NotIn', ['a']],
  [false, 'none', 'NotIn', []],
  [true, 'zone', 'Exists'],
  [false, 'none', 'Exists'],
  [false, 'zone', 'Exists', ['a']],
  [false, 'zone', 'DoesNotExist'],
  [true, 'none', 'DoesNotExist'],
  [false, 'toString', 'Exists'],
  [true, 'cores', 'Gt', ['15']],
  [false, 'cores', 'Gt', ['16']],
  [true, 'cores', 'Lt', ['017']],
  [false, 'cores', 'Lt', ['16']],
  [false, 'zone', 'Gt', ['1']],
  [false, 'cores', 'Gt', ['x']],
  [false, 'cores', 'Gt', ['1', '2']],
  [false, 'none', 'Lt', ['1']],
  [false, 'cores', 'Lt', ['9223372036854775808']],
  [true, 'cores', 'Lt', ['9223372036854775807']],
  [false, 'zone', 'Like', ['a']],
  [false, 'not a key', 'DoesNotExist'],
  [true, 'example.com/x', 'In', ['y']],
];

describe('node affinity', () => {
  for (const [expected, key, operator, values] of EXPRESSIONS) {
    test(`${key} ${operator} ${JSON.stringify(values)} is ${String(expected)}`, () => {
      const requirement = values ? { key, operator, values } : { key, operator };
      assert.equal(affine([{ matchExpressions: [requirement] }]), expected);
    });
  }

  test('requirements of a term go together, terms are choices, a term of none matches nothing', () => {
    const yes = { key: 'zone', operator: 'Exists' };
    const no = { key: 'none', operator: 'Exists' };
    assert.equal(affine([{ matchExpressions: [yes, no] }]), false);
    assert.equal(affine([{ matchExpressions: [no] }, { matchExpressions: [yes] }]), true);
    assert.equal(affine([{}]), false);
    assert.equal(affine([{}, { matchExpressions: [yes] }]), true);
    assert.equal(affine([]), false);
  });

  test('fields: the name of the node, In and NotIn with one value', () => {
    const name = (operator: string, ...values: string[]): boolean =>
      affine([{ matchFields: [{ key: 'metadata.name', operator, values }] }]);
    assert.equal(name('In', 'node-1'), true);
    assert.equal(name('In', 'node-2'), false);
    assert.equal(name('In', 'node-1', 'node-2'), false);
    assert.equal(name('NotIn', 'node-2'), true);
    assert.equal(name('NotIn', 'node-1'), false);
    assert.equal(name('Exists'), false);
    const both = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] };
    assert.equal(affine([{ ...both, matchExpressions: [{ key: 'none', operator: 'Exists' }] }]), false);
  });

  test('nodeSelector and affinity must both match', () => {
    const nodeAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }],
      },
    };
    const select = (nodeSelector: Record<string, string>): boolean =>
      matchesNode(pod('p', { nodeSelector, affinity: { nodeAffinity } }), 'node-1', LABELS);
    assert.equal(select({ cores: '16' }), true);
    assert.equal(select({ cores: '8' }), false);
    assert.equal(select({ constructor: 'x' }), false);
  });
});

const TOLERATIONS: [boolean, Toleration, boolean?][] = [
  [true, { key: 'k', operator: 'Equal', value: '5', effect: 'NoExecute' }],
  [true, { key: 'k', value: '5' }],
  [false, { key: 'k', value: '6' }],
  [false, { key: 'k' }],
  [false, { key: 'other', operator: 'Exists' }],
  [true, { key: 'k', operator: 'Exists' }],
  [true, { operator: 'Exists' }],
  [false, { operator: 'Exists', effect: 'NoSchedule' }],
  [true, { key: 'k', operator: 'Lt', value: '6' }, true],
  [false, { key: 'k', operator: 'Lt', value: '5' }, true],
  [true, { key: 'k', operator: 'Gt', value: '-4' }, true],
  [false, { key: 'k', operator: 'Gt', value: '04' }, true],
  [false, { key: 'k', operator: 'Gt', value: '4' }],
  [false, { key: 'k', operator: 'Near', value: '5' }],
];

describe('tolerations', () => {
  const taint = { key: 'k', value: '5', effect: 'NoExecute' };
  for (const [expected, toleration, comparison = false] of TOLERATIONS) {
    test(`${JSON.stringify(toleration)} is ${String(expected)}, comparison ${comparison ? 'on' : 'off'}`, () => {
      assert.equal(tolerates(toleration, taint, comparison), expected);
    });
  }

  test('the first NoExecute taint that is not borne is found', () => {
    const taints = [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'b', effect: 'NoExecute' },
      { key: 'c', effect: 'NoExecute' },
    ];
    assert.equal(untoleratedNoExecute(pod('p'), taints, false)?.key, 'b');
    const bearing = pod('p', { tolerations: [{ key: 'b', operator: 'Exists' }] });
    assert.equal(untoleratedNoExecute(bearing, taints, false)?.key, 'c');
    const all = pod('p', { tolerations: [{ operator: 'Exists', effect: 'NoExecute' }] });
    assert.equal(untoleratedNoExecute(all, taints, false), undefined);
  });
});
