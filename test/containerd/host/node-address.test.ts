import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { nodeAddressProblem } from '../../../actors/cluster/node-object/host-address.ts';
import { runCommand } from '../../../cri/private-containerd/run-command.ts';

test('an address on an interface without carrier is this node’s, one on none is not', async (t) => {
  const link = `acttestq${process.pid % 10_000}`;
  t.after(() => runCommand('ip', ['link', 'delete', link]));
  for (const args of [
    // with an address of its own a bridge without ports has no carrier
    ['link', 'add', link, 'address', '0a:58:0a:c9:c9:01', 'type', 'bridge'],
    ['addr', 'add', '10.199.77.1/24', 'dev', link],
    ['addr', 'add', 'fd00:77::1/64', 'dev', link, 'nodad'],
    ['link', 'set', link, 'up'],
  ]) {
    const { code, stderr } = await runCommand('ip', args);
    assert.equal(code, 0, stderr);
  }
  assert.equal(networkInterfaces()[link], undefined);
  for (const ip of ['10.199.77.1', 'fd00:77::1', 'fd00:77:0::1']) assert.equal(nodeAddressProblem(ip), null, ip);
  for (const ip of ['10.199.77.2', 'fd00:77::2'])
    assert.equal(nodeAddressProblem(ip), "is on none of the host's network interfaces");
});
