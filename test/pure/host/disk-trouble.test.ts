import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diskTrouble } from '../../../actors/host/files/disk-trouble.ts';

function failure(code: string, more: object = {}): Error {
  return Object.assign(new Error(`${code}: words`), { code, ...more });
}

async function named(thrown: unknown): Promise<string> {
  const told = await diskTrouble(thrown, '/root-dir');
  return told instanceof Error ? told.message : String(told);
}

test('no space, no quota and a read-only file system have a name, a place and a cure', async () => {
  assert.match(await named(failure('ENOSPC')), /^HOST012: No space is left for \/root-dir: ENOSPC: words\. .*df -i/);
  assert.match(await named(failure('EDQUOT', { path: '/d/x' })), /^HOST012: No space is left for \/d\/x: /);
  assert.match(await named(failure('EROFS', { path: '/d/x' })), /^HOST013: The file system of \/d\/x is read-only: /);
});

test('anything else, and a cgroup file system that is full of its own, stays what it is', async () => {
  for (const thrown of [
    failure('EACCES'),
    failure('ENOSPC', { path: '/sys/fs/cgroup/cpuset/x' }),
    failure('ENOENT', { syscall: 'mkdir', path: '/d/x' }),
    'text',
  ])
    assert.equal(await diskTrouble(thrown, '/'), thrown);
});
