import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHostAddress } from '../../../actors/cluster/node-object/host-address.ts';

const silent = () => new Promise<never>(() => undefined);

test('while DNS does not answer the address stays what it was', async () => {
  assert.equal(await findHostAddress('node-1', [], '192.0.2.7', silent), '192.0.2.7');
});

test('a DNS that never answers leaves a node that begins the address of its interfaces, as one that knows no such name does', async () => {
  const unknown = await findHostAddress('node-1', [], '192.0.2.7', () => Promise.reject(new Error('ENOTFOUND')));
  assert.equal(await findHostAddress('node-1', [], null, silent), unknown);
});

test('a name that is an address is the address', async () => {
  assert.equal(await findHostAddress('192.0.2.9', [], null, silent), '192.0.2.9');
});
