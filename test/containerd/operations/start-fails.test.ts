import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { AgentProcess } from '../agent/support/agent-process.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';

/** A daemon that is to end by itself: its exit code and last words; nothing may be left of it on the machine. */
async function ended(t: TestContext, flags: (folder: string) => string[], prepare?: (folder: string) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), 'start-fails-'));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  await prepare?.(folder);
  const clean = await machineState();
  const own = ['--root-dir', join(folder, 'root'), '--shards', '1'];
  const cgroups = ['--cgroups-per-qos=false', '--enforce-node-allocatable=', '--fail-cgroupv1=false'];
  const agent = new AgentProcess([...own, ...cgroups, ...flags(folder)], join(folder, 'agent.log'));
  t.after(() => agent.kill());
  const { code } = await agent.ended;
  await assertNothingLeft(clean);
  return { code, words: await agent.tail() };
}

test('a port is taken: the private containerd that was started for the node goes with it', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const port = String((server.address() as AddressInfo).port);
  const { code, words } = await ended(t, () => ['--private-containerd', 'always', '--healthz-port', port]);
  assert.match(words, /Started a private containerd/);
  assert.match(words, new RegExp(`${port}`));
  assert.equal(code, 1);
});

test('a kubeconfig that is none: told with its place, and nothing was started', async (t) => {
  const flags = (folder: string) => ['--private-containerd', 'always', '--kubeconfig', join(folder, 'kubeconfig')];
  const { code, words } = await ended(t, flags, (folder) => writeFile(join(folder, 'kubeconfig'), '{ not: one'));
  assert.match(words, /kubeconfig/);
  assert.doesNotMatch(words, /private containerd/);
  assert.equal(code, 1);
});

test('a root directory that cannot be written: told, and nothing is left', async (t) => {
  const { code, words } = await ended(
    t,
    (folder) => ['--private-containerd', 'always', '--root-dir', join(folder, 'file', 'root')],
    async (folder) => {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'file'), '');
    },
  );
  assert.match(words, /ENOTDIR|not a directory/);
  assert.equal(code, 1);
});
