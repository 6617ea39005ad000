import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportedCgroups } from '../../../actors/serve/cadvisor/cgroup-roots.ts';

const NONE = {
  ...{ cgroupRoot: '', cgroupsPerQOS: true, cgroupDriver: 'cgroupfs' },
  ...{ kubeletCgroups: '', systemCgroups: '', runtimeCgroups: '' },
};

test('pods below the cgroup root, with the name that the driver gives', () => {
  assert.deepEqual(reportedCgroups(NONE, ''), ['/kubepods']);
  assert.deepEqual(reportedCgroups({ ...NONE, cgroupRoot: '/a', cgroupDriver: 'systemd' }, ''), [
    '/a.slice/a-kubepods.slice',
  ]);
  assert.deepEqual(reportedCgroups({ ...NONE, cgroupRoot: '/a', cgroupsPerQOS: false }, ''), ['/a']);
});

test('the agent, runtime and system as configured', () => {
  const settings = { ...NONE, kubeletCgroups: '/k', systemCgroups: '/s', runtimeCgroups: '/r' };
  assert.deepEqual(reportedCgroups(settings, '0::/elsewhere\n'), ['/kubepods', '/k', '/r', '/s']);
});

test('the cgroup the agent is in: v2, v1 with and without systemd, never the root', () => {
  const own = (text: string) => reportedCgroups(NONE, text)[1];
  assert.equal(own('0::/system.slice/kubelet.service\n'), '/system.slice/kubelet.service');
  assert.equal(own('0::/\n'), undefined);
  assert.equal(own('3:cpu,cpuacct:/a\n2:memory:/a\n1:name=systemd:/sys/a:b\n0::/\n'), '/sys/a:b');
  assert.equal(own('3:cpu,cpuacct:/a\n2:memory:/a\n'), '/a');
  assert.equal(own('3:cpu:/\n2:memory:/process_api/x\n1:name=systemd:/s\n'), undefined);
  assert.equal(own(''), undefined);
});
