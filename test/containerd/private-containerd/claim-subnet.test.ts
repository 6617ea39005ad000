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

test('the bridge keeps its link address whichever ports it has, also one that an older agent has made', async (t) => {
  const [bridge, port] = [`acttest${process.pid % 10_000}`, `acttestp${process.pid % 10_000}`];
  const ip = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCommand('ip', args);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const address = async (): Promise<string> =>
    /link\/ether (\S+)/.exec(await ip('link', 'show', 'dev', bridge))?.[1] ?? '';
  t.after(async () => {
    for (const link of [port, bridge]) await runCommand('ip', ['link', 'delete', link]);
  });
  await ip('link', 'add', bridge, 'type', 'bridge');
  const before = await address();
  await claimSubnet(bridge, undefined);
  // lower than any that the kernel draws: these have the second bit set
  await ip('link', 'add', port, 'address', '00:00:00:00:00:01', 'type', 'veth', 'peer', 'name', `${port}b`);
  await ip('link', 'set', port, 'master', bridge, 'up');
  assert.equal(await address(), before);
});
