import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressesIn } from '../../../actors/cluster/node-object/quiet-addresses.ts';
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

test('addresses of interfaces without carrier are in the tables of the kernel', () => {
  const trie = [
    'Main:',
    '  +-- 10.201.89.0/24 2 0 2',
    '     |-- 10.201.89.0',
    '        /24 link UNICAST',
    '     |-- 10.201.89.1',
    '        /32 link UNICAST',
    '        /32 host LOCAL',
    '     |-- 10.201.89.255',
    '        /32 link BROADCAST',
  ].join('\n');
  const inet6 =
    'fd00000000000000000000000000000a 03 40 00 80     eth1\n00000000000000000000000000000001 01 80 10 80       lo\n';
  assert.deepEqual([...addressesIn(trie, inet6)], ['10.201.89.1', 'fd00::a', '::1']);
  assert.deepEqual([...addressesIn('', '')], []);
});
