import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
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
import { until } from '../../tools/wait-for.ts';

// Programs that end and leave a process behind which holds their outputs open: to wait for the end of those is to wait for it.

const SAID = '{"status":"Success"}';

/** A program that ends and leaves a process behind. */
interface Leaving {
  path: string;
  /** Resolves when it has ended, and its parent has taken note. */
  ended: () => Promise<void>;
  /** What it left lives on, so that nobody has waited for its end. */
  lives: () => void;
}

async function leaving(t: TestContext, name = 'program', status = 0): Promise<Leaving> {
  const dir = await mkdtemp(join(tmpdir(), 'leaves-'));
  const path = join(dir, name);
  const pidIn = (file: string): number => Number(readFileSync(join(dir, file), 'utf8'));
  t.after(async () => {
    if (existsSync(join(dir, 'left'))) process.kill(pidIn('left'), 'SIGKILL');
    await rm(dir, { recursive: true, force: true });
  });
  // In a session of its own, where no signal to the program's group reaches it, and waited for: it tells its number from there. Longer
  // than a test takes on a busy machine.
  const left = `setsid sh -c 'echo $$ >"${dir}/left"; exec sleep 240' & until [ -s '${dir}/left' ]; do sleep 0.01; done; echo '${SAID}'`;
  await writeFile(path, `#!/bin/sh\n${left}; echo $$ >'${dir}/own'; exit ${status}\n`);
  await chmod(path, 0o755);
  return {
    path,
    ended: async () => {
      const own = join(dir, 'own');
      await until(() => existsSync(own) && pidIn('own') > 0 && !existsSync(`/proc/${pidIn('own')}`), 'its end');
    },
    lives: () => {
      assert.match(readFileSync(`/proc/${pidIn('left')}/comm`, 'utf8'), /^(sleep|sh)\n$/);
    },
  };
}

/** A signal, and what gives it once the program has ended. */
function givenUp({ ended }: Leaving): { signal: AbortSignal; reason: Error } {
  const controller = new AbortController();
  const reason = new Error('given up');
  void ended().then(() => controller.abort(reason));
  return { signal: controller.signal, reason };
}

test('a program that is given up', async (t) => {
  const program = await leaving(t);
  const ended = await runProgram('/bin/sh', [program.path], givenUp(program).signal);
  assert.deepEqual(ended, { status: 0, missing: false, output: `${SAID}\n` });
  program.lives();
});

test('a FlexVolume driver whose call is given up', async (t) => {
  const program = await leaving(t);
  const driver = new FlexDriver(program.path);
  const call = driver.call(givenUp(program).signal, 'mount', '/somewhere');
  await assert.rejects(call, { message: 'signal: killed' });
  program.lives();
});

test('a credential plugin whose time is over', async (t) => {
  const program = await leaving(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const config = { name: 'ecr', path: program.path, args: [], env: {} } as unknown as Parameters<typeof runPlugin>[0];
  const late = assert.rejects(runPlugin(config, 'reg.io/app', '{}', 60_000), /context deadline exceeded/);
  await program.ended();
  t.mock.timers.tick(60_000);
  await late;
  program.lives();
});

test('the git of a volume whose pod is torn down', async (t) => {
  const program = await leaving(t, 'git', 1);
  const dir = dirname(program.path);
  const { PATH } = process.env;
  process.env['PATH'] = `${dir}:${PATH ?? ''}`;
  t.after(() => (process.env['PATH'] = PATH));
  const volume = { name: 'v', kind: 'gitRepo', repository: 'https://nowhere', revision: '', directory: '' } as const;
  const settings = { rootDir: join(dir, 'root') } as HostSettings;
  const { signal, reason } = givenUp(program);
  await assert.rejects(setUpGitRepo('uid', volume, undefined, settings, signal), reason);
  program.lives();
});
