import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { HostSettings } from '../../../actors/host/files/host-settings.ts';
import { runProgram } from '../../../actors/host/files/program.ts';
import { setUpGitRepo } from '../../../actors/host/volumes/git-repo.ts';
import { FlexDriver } from '../../../actors/resources/flex/flex-driver.ts';
import { runPlugin } from '../../../actors/runtime/images/run-plugin.ts';

// Programs that end and leave a process behind which holds their outputs open: to wait for the end of those is to wait for it.

const SAID = '{"status":"Success"}';
/** In a session of its own, where no signal to the program's group reaches it. */
const LEAVES = `setsid sleep 6 & echo '${SAID}'`;
/** When nobody waits any more, and when it is not the sleep's end that was waited for, ms. */
const PATIENCE_MS = 300;
const SOON_MS = 4_000;

async function soon<T>(work: Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    return await work;
  } finally {
    assert.ok(performance.now() - began < SOON_MS, 'what was left behind was waited for');
  }
}

async function script(t: TestContext, name = 'program', status = 0): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'leaves-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const path = join(dir, name);
  await writeFile(path, `#!/bin/sh\n${LEAVES}; exit ${status}\n`);
  await chmod(path, 0o755);
  return path;
}

test('a program that is given up', async () => {
  const ended = await soon(runProgram('/bin/sh', ['-c', LEAVES], AbortSignal.timeout(PATIENCE_MS)));
  assert.deepEqual(ended, { status: 0, missing: false, output: `${SAID}\n` });
});

test('a FlexVolume driver whose call is given up', async (t) => {
  const driver = new FlexDriver(await script(t));
  const call = driver.call(AbortSignal.timeout(PATIENCE_MS), 'mount', '/somewhere');
  await assert.rejects(soon(call), { message: 'signal: killed' });
});

test('a credential plugin whose time is over', async (t) => {
  const config = { name: 'ecr', path: await script(t), args: [], env: {} } as unknown as Parameters<
    typeof runPlugin
  >[0];
  await assert.rejects(soon(runPlugin(config, 'reg.io/app', '{}', PATIENCE_MS)), /context deadline exceeded/);
});

test('the git of a volume whose pod is torn down', async (t) => {
  const dir = dirname(await script(t, 'git', 1));
  const { PATH } = process.env;
  process.env['PATH'] = `${dir}:${PATH ?? ''}`;
  t.after(() => (process.env['PATH'] = PATH));
  const volume = { name: 'v', kind: 'gitRepo', repository: 'https://nowhere', revision: '', directory: '' } as const;
  const settings = { rootDir: join(dir, 'root') } as HostSettings;
  const signal = AbortSignal.timeout(PATIENCE_MS);
  await assert.rejects(soon(setUpGitRepo('uid', volume, undefined, settings, signal)), { name: 'TimeoutError' });
});
