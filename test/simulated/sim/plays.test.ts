import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { ContainerState } from '../../../cri/generated/runtime/v1/api.ts';
import type { SimScript } from '../../../cri/sim/script.ts';
import { bench, call } from './sim-client.ts';
import type { Bench } from './sim-client.ts';
import { until } from '../../tools/wait-for.ts';

const SCRIPT: SimScript = {
  images: [{ image: '*', present: true, entrypoint: ['/agnhost'], command: ['pause'] }],
  containers: [{ match: { pod: 'plain' } }, { attempts: [{ plays: true, otherwise: { exit: { code: 127 } } }] }],
};

const sh = (text: string) => ({ command: ['sh', '-c', text] });

async function ended(b: Bench, id: string) {
  await until(async () => (await b.status(id)).state === ContainerState.CONTAINER_EXITED);
  return b.status(id);
}

test('a container does what its command says: output, termination message, exit code', async (t) => {
  const b = await bench(t, SCRIPT);
  const mounts = [{ containerPath: '/dev/termination-log', hostPath: join(b.dir, 'message') }];
  writeFileSync(join(b.dir, 'message'), '');
  const sandbox = await b.sandbox('web', { logDirectory: b.dir, hostname: 'web' });
  const envs = [{ key: 'GREETING', value: 'hello' }];
  const script = 'echo "$GREETING from $HOSTNAME"; echo -n BYE > /dev/termination-log; echo -n DONE; exit 3';
  const id = await b.run(sandbox, 'c', { ...sh(script), envs, mounts });
  const { exitCode, reason } = await ended(b, id);
  assert.deepEqual([exitCode, reason], [3, 'Error']);
  assert.equal(readFileSync(join(b.dir, 'message'), 'utf8'), 'BYE');
  const lines = readFileSync(join(b.dir, 'c/0.log'), 'utf8').replaceAll(/^\S+ /gm, '');
  assert.equal(lines, 'stdout F hello from web\nstdout P DONE\n');
});

test("the image's command holds when the pod names none; what is not known ends as the script says", async (t) => {
  const b = await bench(t, SCRIPT);
  const sandbox = await b.sandbox('web', { logDirectory: b.dir });
  const pause = await b.run(sandbox, 'pause');
  await until(() => readFileSync(join(b.dir, 'pause/0.log'), 'utf8').endsWith(' stdout F Paused\n'));
  await b.stop(pause, 30);
  assert.equal((await b.status(pause)).exitCode, 0);
  assert.equal((await ended(b, await b.run(sandbox, 'unknown', sh('wget x')))).exitCode, 127);
  const args = await b.run(sandbox, 'args', { args: ['entrypoint-tester', 'a'] });
  await ended(b, args);
  assert.match(readFileSync(join(b.dir, 'args/0.log'), 'utf8'), / F \[\/agnhost entrypoint-tester a\]\n$/);
});

test('a first process without a handler does not notice SIGTERM; with a trap it ends by it', async (t) => {
  const b = await bench(t, SCRIPT);
  const sandbox = await b.sandbox('web', { logDirectory: b.dir });
  const deaf = await b.run(sandbox, 'deaf', sh('sleep 600'));
  const trapped = await b.run(sandbox, 'trapped', sh('trap exit TERM; echo set; while true; do sleep 0.01; done'));
  await until(() => readFileSync(join(b.dir, 'trapped/0.log'), 'utf8').includes(' set'));
  await b.stop(trapped, 30);
  await b.stop(deaf, 1);
  assert.deepEqual([(await b.status(trapped)).exitCode, (await b.status(deaf)).exitCode], [0, 137]);
  assert.equal(b.sim.state.timers, 0);
});

test('commands in a container see its files; where commands are not played they succeed', async (t) => {
  const b = await bench(t, SCRIPT);
  const exec = async (containerId: string, cmd: string[], timeout = '0') => {
    const answer = await call(b.runtime, b.runtime.execSync, { containerId, cmd, timeout });
    return [answer.exitCode, answer.stdout.toString(), answer.stderr.toString()];
  };
  const script = 'echo ok > /tmp/health; sleep 600';
  const id = await b.run(await b.sandbox('web'), 'c', sh(script));
  await until(async () => (await exec(id, ['cat', '/tmp/health']))[0] === 0);
  assert.deepEqual(await exec(id, ['cat', '/tmp/health']), [0, 'ok\n', '']);
  assert.deepEqual(await exec(id, ['cat', '/none']), [1, '', 'cat: /none: No such file or directory\n']);
  assert.deepEqual(await exec(id, ['curl', 'http://x']), [0, '', '']);
  const late = { code: status.DEADLINE_EXCEEDED };
  await assert.rejects(exec(id, ['sh', '-c', 'sleep 600'], '1'), late);
  // what it left running holds its output open
  await assert.rejects(exec(id, ['sh', '-c', 'sleep 600 & exit 1'], '1'), late);
  const dying = exec(id, ['sleep', '600']);
  await until(() => b.sim.state.calls.inFlight === 1);
  b.sim.exitContainer(id, 0);
  assert.equal((await dying)[0], 137);
  assert.equal(b.sim.state.timers, 0);
  const plain = await b.run(await b.sandbox('plain'), 'c', sh(script));
  assert.deepEqual(await exec(plain, ['cat', '/none']), [0, '', '']);
});

test('mounttest tells what it is asked for of files on mounts', async (t) => {
  const b = await bench(t, SCRIPT);
  const volume = join(b.dir, 'volume');
  mkdirSync(volume);
  const sandbox = await b.sandbox('web', { logDirectory: b.dir });
  const args = ['mounttest', '--new_file_0666=/v/f', '--file_mode=/v', '--file_perm=/v/f', '--file_content=/v/none'];
  const id = await b.run(sandbox, 'c', { args, mounts: [{ containerPath: '/v', hostPath: volume }] });
  assert.equal((await ended(b, id)).exitCode, 1);
  const lines = readFileSync(join(b.dir, 'c/0.log'), 'utf8').replaceAll(/^\S+ stdout F /gm, '');
  assert.equal(
    lines,
    [
      'content of file "/v/f": mount-tester new file',
      '',
      'mode of file "/v": drwxr-xr-x',
      'perms of file "/v/f": -rw-rw-rw-',
      'error reading file content for "/v/none": no such file or directory',
      '',
    ].join('\n'),
  );
});
