import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { fromServiceError } from '../../../cri/client/cri-error.ts';

const told = (code: status, details: string): string =>
  fromServiceError('NodePublishVolume', { code, details } as ServiceError).details;

test("that time is over is told in Go's words, whoever noticed first", () => {
  assert.equal(
    told(status.DEADLINE_EXCEEDED, 'Deadline exceeded after 1.203s,LB pick: 0.001s'),
    'context deadline exceeded',
  );
  assert.equal(told(status.DEADLINE_EXCEEDED, 'Deadline exceeded'), 'context deadline exceeded');
  assert.equal(told(status.DEADLINE_EXCEEDED, 'the array is busy'), 'the array is busy');
  assert.equal(told(status.CANCELLED, 'Cancelled on client'), 'context canceled');
});
