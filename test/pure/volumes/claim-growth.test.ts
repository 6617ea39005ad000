/** Cases of kubelet's TestNodeExpander and of checkForRecoveryFromExpansion. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../../../machines/protocol/storage-types.ts';
import { claimGrowth, isAtLeast } from '../../../machines/volumes/claim-growth.ts';

/** A claim that asks for 2Gi. */
function claim(
  capacity: string,
  resizeStatus: string,
  { allocated = '2Gi', modes = ['ReadWriteOnce'], annotations = {} }: Partial<Extra> = {},
): PersistentVolumeClaim {
  return {
    metadata: { annotations },
    spec: { accessModes: modes, resources: { requests: { storage: '2Gi' } } },
    status: {
      capacity: { storage: capacity },
      ...(allocated !== '' && { allocatedResources: { storage: allocated } }),
      ...(resizeStatus !== '' && { allocatedResourceStatuses: { storage: resizeStatus } }),
    },
  };
}

interface Extra {
  allocated: string;
  modes: string[];
  annotations: Record<string, string>;
}

const grows = (storage: string, more: object = {}) => ({
  ...{ may: 'grow', storage, silent: false, told: false, overtaken: false },
  ...more,
});

test('the node grows what its turn is, to the size that the controller has allocated', () => {
  for (const status of ['NodeResizePending', 'NodeResizeInProgress'])
    assert.deepEqual(claimGrowth(claim('1Gi', status), '3Gi', false), grows('2Gi'));
  for (const status of ['NodeResizeInfeasible', 'ControllerResizeInProgress', 'ControllerResizeInfeasible'])
    assert.deepEqual(claimGrowth(claim('1Gi', status), '2Gi', false), { may: 'wait', resizeStatus: status });
  assert.deepEqual(claimGrowth(claim('1Gi', ''), '2Gi', false), { may: 'wait', resizeStatus: '' });
});

test('of a claim that has the size nodes have a part where many may write to it', () => {
  const many = { modes: ['ReadWriteMany'] };
  assert.deepEqual(claimGrowth(claim('2Gi', ''), '2Gi', false), { may: 'nothing', storage: '2Gi' });
  assert.deepEqual(claimGrowth(claim('2Gi', '', many), '2Gi', false), grows('2Gi', { told: true }));
  const annotations = { 'volume.kubernetes.io/node-expansion-not-required': 'true' };
  assert.equal(claimGrowth(claim('2Gi', '', { ...many, annotations }), '2Gi', false).may, 'nothing');
});

test('a resizer that tells nothing of its progress has the PV’s size', () => {
  const old = { allocated: '' };
  assert.deepEqual(claimGrowth(claim('1Gi', '', old), '2Gi', true), grows('2Gi', { silent: true }));
  assert.deepEqual(claimGrowth(claim('2Gi', '', old), '2Gi', false), grows('2Gi', { silent: true, told: true }));
});

test('a growth that has failed is over once the claim asks for another size', () => {
  const smaller = claim('1Gi', 'NodeResizePending', { allocated: '4Gi' });
  assert.deepEqual(claimGrowth(smaller, '4Gi', true), grows('4Gi', { overtaken: true }));
  assert.deepEqual(claimGrowth(smaller, '4Gi', false), grows('4Gi'));
  assert.deepEqual(claimGrowth(claim('1Gi', 'NodeResizePending'), '2Gi', true), grows('2Gi'));
});

test('sizes are compared as quantities; what is none is no size', () => {
  assert.equal(isAtLeast('2048Mi', '2Gi'), true);
  assert.equal(isAtLeast('2G', '2Gi'), false);
  assert.equal(isAtLeast(undefined, '1'), false);
  assert.equal(isAtLeast('much', '0'), true);
});
