import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimSubnet, gatewayOf } from '../../../cri/private-containerd/claim-subnet.ts';
import { runCommand } from '../../../cri/private-containerd/run-command.ts';
import { overlaps, parseNetwork4 } from '../../../cri/private-containerd/subnet.ts';

const COUNT = 6;

test('agents that start at the same moment take different subnets, and keep theirs at the next start', async (t) => {
  const bridges = Array.from({ length: COUNT }, (_none, index) => `actest${process.pid % 10_000}${index}`);
  t.after(() => Promise.all(bridges.map((bridge) => runCommand('ip', ['link', 'delete', bridge]))));
  const subnets = await Promise.all(bridges.map((bridge) => claimSubnet(bridge, undefined)));
  const networks = subnets.map((subnet) => parseNetwork4(subnet) ?? assert.fail(subnet));
  networks.forEach((one, index) => {
    for (const other of networks.slice(index + 1)) assert.equal(overlaps(one, other), false, subnets.join(' '));
  });
  const shown = await runCommand('ip', ['-4', '-br', 'addr', 'show', 'dev', bridges[0] ?? '']);
  assert.match(shown.stdout, new RegExp(`${gatewayOf(subnets[0] ?? '').replaceAll('.', '\\.')}\\s*$`));
  assert.deepEqual(await Promise.all(bridges.map((bridge, index) => claimSubnet(bridge, subnets[index]))), subnets);
});
