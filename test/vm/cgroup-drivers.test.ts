import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { after, before, test } from 'node:test';
import { referenceTool } from '../tools/reference-tool.ts';
import { Machine } from './support/machine.ts';
import { NodeInVm } from './support/node-in-vm.ts';
import { sleepingPod } from './support/sleeping-pod.ts';

const POD = sleepingPod('one', {
  requests: { cpu: '100m', memory: '32Mi' },
  limits: { cpu: '123m', memory: '64Mi' },
});

let machine: Machine;

before(async () => {
  machine = await Machine.up();
});
after(() => machine?.down());

/** Runs the pod on a node with this configuration, gives its folder below /sys/fs/cgroup to `look`, and ends it. */
async function withPod(config: object, look: (folder: string) => Promise<void>): Promise<void> {
  const node = new NodeInVm(machine, config);
  await node.start();
  await node.add(POD);
  await node.running('one');
  const found = await machine.run(
    'cd /sys/fs/cgroup && find . -mindepth 2 -type d -name "*pod????????????????????????????????*" -prune',
  );
  const [folder = '', ...more] = found.trim().split('\n');
  assert.deepEqual(more, []);
  await look(folder);
  await node.remove('one');
  await node.gone('one');
  await machine.until('the end of its cgroup', `! [ -e /sys/fs/cgroup/${folder} ]`);
  await node.stop();
}

test('cgroupfs on cgroup v2, when the runtime has it as well: folders, with the limits that were asked for', async () => {
  await machine.run(
    "sed -i 's/SystemdCgroup = true/SystemdCgroup = false/' /etc/containerd/config.toml && systemctl restart containerd",
  );
  await withPod({ cgroupDriver: 'cgroupfs' }, async (folder) => {
    assert.match(folder, /^\.\/kubepods\/burstable\/pod[0-9a-f]{32}$/);
    const values = await machine.run(
      `cd /sys/fs/cgroup/${folder} && cat cpu.max cpu.weight memory.max; ls -d */ | wc -l`,
    );
    // Folders take a quota as it is, and the sandbox and its container are below.
    assert.deepEqual(values.trim().split('\n'), ['12300 100000', '4', String(64 << 20), '2']);
    assert.equal(await machine.run('systemctl list-units --all --plain --no-legend "kubepods*"'), '');
  });
});

test('a runtime that tells its driver (RuntimeConfig) is followed, whatever is configured', async () => {
  const containerd = await referenceTool('containerd2');
  await machine.run(
    "systemctl stop containerd; sed -i 's/SystemdCgroup = false/SystemdCgroup = true/' /etc/containerd/config.toml && " +
      `systemd-run --quiet --unit=containerd2 --property=Delegate=yes --property=KillMode=process --setenv=PATH=${dirname(containerd)}:/usr/sbin:/usr/bin:/sbin:/bin ${containerd}`,
  );
  await machine.until(
    'containerd 2',
    'ctr version | grep -A1 Server | grep -q " v\\?2\\."',
    'journalctl -u containerd2 -n 30 --no-pager -o cat',
  );
  await withPod({ cgroupDriver: 'cgroupfs' }, async (folder) => {
    assert.match(folder, /^\.\/kubepods\.slice\/kubepods-burstable\.slice\/kubepods-burstable-pod[0-9a-f]{32}\.slice$/);
    assert.equal((await machine.run(`cat /sys/fs/cgroup/${folder}/cpu.max`)).trim(), '13000 100000');
    const log = await machine.run('journalctl -u agent --no-pager -o cat | grep "Using cgroup driver"');
    assert.match(log, /cgroupDriver="systemd"/);
  });
});
