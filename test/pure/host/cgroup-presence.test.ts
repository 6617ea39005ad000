/** Cgroups that must be there before the agent starts: in every hierarchy, with every controller. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { lackOf } from '../../../actors/host/cgroups/cgroup-presence.ts';
import { NodeCgroups } from '../../../actors/host/cgroups/node-cgroups.ts';
import type { NodeCgroupsOptions } from '../../../actors/host/cgroups/node-cgroups.ts';
import type { CgroupHost } from '../../../actors/host/files/cgroup-host.ts';

const root = mkdtempSync(join(tmpdir(), 'cgroups-'));
after(() => rmSync(root, { recursive: true }));

test('v1: every hierarchy that kubelet looks at', () => {
  const mounts = Object.fromEntries(
    ['cpu', 'memory', 'name=systemd', 'devices'].map((name) => [name, join(root, name)]),
  );
  const host: CgroupHost = { version: 1, controllers: ['cpu', 'memory', 'devices'], mounts };
  const lack = (path: string) => lackOf(host, path)?.replaceAll(`${root}/`, '') ?? null;
  assert.equal(lack('/a'), 'cgroup ["a"] has some missing paths: cpu/a, memory/a, name=systemd/a');
  for (const name of ['cpu', 'memory']) mkdirSync(join(root, name, 'a'), { recursive: true });
  assert.equal(lack('/a'), 'cgroup ["a"] has some missing paths: name=systemd/a');
  mkdirSync(join(root, 'name=systemd/a'), { recursive: true });
  assert.equal(lack('/a'), null);
});

const v2: CgroupHost = { version: 2, controllers: ['cpu', 'memory', 'io'], mounts: { '': join(root, 'v2') } };
function made(path: string, controllers: string): void {
  mkdirSync(join(root, 'v2', path), { recursive: true });
  writeFileSync(join(root, 'v2', path, 'cgroup.controllers'), controllers);
}

test('v2: every controller that the machine has', () => {
  assert.match(lackOf(v2, '/b') ?? '', /^could not read controllers for cgroup \["b"\]: ENOENT/);
  made('b', 'cpu\n');
  assert.equal(lackOf(v2, '/b'), 'cgroup ["b"] has some missing controllers: memory');
  made('b', 'cpu memory\n');
  assert.equal(lackOf(v2, '/b'), null);
});

function nodeCgroups(more: Partial<NodeCgroupsOptions>) {
  const done: string[] = [];
  const node = new NodeCgroups({
    driver: {
      create: (path) => Promise.resolve(void done.push(`create ${path}`)),
      set: (path) => Promise.resolve(void done.push(`set ${path}`)),
      remove: () => Promise.resolve(),
    },
    ...{ host: v2, limits: {}, tier: {}, reserved: [], log: pino({ level: 'silent' }) },
    qos: { kubepods: '/mine/kubepods', burstable: '/mine/kubepods/b', bestEffort: '/mine/kubepods/e' },
    ...more,
  });
  return { node, done };
}

test('pods’ cgroups are not made in one that is not there', async () => {
  const { node, done } = nodeCgroups({});
  await assert.rejects(node.make(), { code: 'HOST033', message: /invalid configuration: could not read .*\["mine"\]/ });
  assert.deepEqual(done, []);
  made('mine', 'cpu memory');
  await node.make();
  assert.equal(done[0], 'create /mine/kubepods');
  const whole = nodeCgroups({ qos: { kubepods: '/kubepods', burstable: '/kubepods/b', bestEffort: '/kubepods/e' } });
  await whole.node.make();
  assert.equal(whole.done.length, 6, 'the machine’s own root is there');
});

test('a reserved cgroup that is not there is told and ends the start', async () => {
  const reserved = (compressible: boolean) => [
    { what: 'system reserved', name: '/sys', path: '/sys', limits: { cpuShares: 2 }, compressible },
  ];
  for (const [compressible, words] of [
    [false, 'System Reserved Cgroup Limits'],
    [true, 'System Reserved Compressible Cgroup Limits'],
  ] as const) {
    const { node, done } = nodeCgroups({ reserved: reserved(compressible) });
    const told: string[] = [];
    await assert.rejects(
      node.enforce(({ reason, message }) => told.push(`${reason}: ${message}`)),
      { code: 'HOST032' },
    );
    await node.stop();
    const text = `FailedNodeAllocatableEnforcement: Failed to enforce ${words} on "/sys": could not read controllers`;
    assert.ok(
      told.some((event) => event.startsWith(text)),
      told.join('\n'),
    );
    assert.ok(!done.includes('set /sys'));
  }
  made('sys', 'cpu memory');
  const { node, done } = nodeCgroups({ reserved: reserved(false) });
  const told: string[] = [];
  await node.enforce(({ message }) => told.push(message));
  await node.stop();
  assert.ok(told.includes('Updated limits on system reserved cgroup /sys'));
  assert.ok(done.includes('set /sys'));
});

test('a cgroup that is to be kept within what is reserved for it ends the start when that is nothing', async () => {
  made('kube', 'cpu memory');
  const [path, name] = ['/kube', '/kube'];
  const { node, done } = nodeCgroups({
    reserved: [{ what: 'kube reserved', name, path, limits: null, compressible: false }],
  });
  const told: string[] = [];
  await assert.rejects(
    node.enforce(({ message }) => told.push(message)),
    { code: 'HOST032' },
  );
  await node.stop();
  const why = 'Failed to enforce Kube Reserved Cgroup Limits on "/kube": ["kube"] cgroup is not configured properly';
  assert.ok(told.includes(why), told.join('\n'));
  assert.ok(!done.includes('set /kube'));
});
