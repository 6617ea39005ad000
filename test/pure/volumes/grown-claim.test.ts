import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grownClaimPatch } from '../../../machines/volumes/grown-claim.ts';

test('a claim whose volume has grown says so, and waits for nothing of that any more', () => {
  const metadata = { name: 'c', resourceVersion: '7' };
  assert.deepEqual(grownClaimPatch({ metadata, status: { capacity: { storage: '1Gi' } } }, '2Gi'), {
    metadata: { resourceVersion: '7' },
    status: { capacity: { storage: '2Gi' } },
  });
  const condition = (type: string) => ({ type, status: 'True' });
  const conditions = [condition('FileSystemResizePending'), condition('ModifyingVolume')];
  const status = { conditions, allocatedResourceStatuses: { storage: 'NodeResizePending' } };
  assert.deepEqual(grownClaimPatch({ metadata, status }, '2Gi'), {
    metadata: { resourceVersion: '7' },
    status: {
      capacity: { storage: '2Gi' },
      allocatedResourceStatuses: { storage: null },
      conditions: [{ $patch: 'delete', type: 'FileSystemResizePending' }],
    },
  });
});
