import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadlineMs } from '../../../cri/client/call.ts';

const base = 120_000;

test('deadlines follow the kubelet', () => {
  assert.equal(deadlineMs('listContainers', {}, base), base);
  assert.equal(deadlineMs('runPodSandbox', {}, base), 2 * base);
  assert.equal(deadlineMs('stopContainer', { timeout: '30' }, base), base + 30_000);
  assert.equal(deadlineMs('stopContainer', { timeout: '-1' }, base), base);
  assert.equal(deadlineMs('execSync', { timeout: '5' }, base), base + 5000);
  assert.equal(deadlineMs('execSync', { timeout: '0' }, base), Infinity);
  assert.equal(deadlineMs('checkpointContainer', { timeout: '10' }, base), base);
  assert.equal(deadlineMs('checkpointContainer', { timeout: '600' }, base), 600_000);
  assert.equal(deadlineMs('pullImage', {}, base), Infinity);
});
