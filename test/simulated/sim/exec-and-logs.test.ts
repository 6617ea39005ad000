import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import type { Bench } from './sim-client.ts';
import { bench, call } from './sim-client.ts';
import { until } from '../../tools/wait-for.ts';

const LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z (stdout|stderr) ([PF]) (.*)$/;

function exec(b: Bench, containerId: string, cmd: string[], timeout = 0) {
  return call(b.runtime, b.runtime.execSync, { containerId, cmd, timeout: String(timeout) });
}

test('commands give the scripted answers in order, the last for ever', async (t) => {
  const results = [
    { stdout: 'ok\n', times: 2 },
    { code: 1, stderr: 'bad' },
  ];
  const b = await bench(t, { containers: [{ match: { pod: 'web' }, exec: [{ command: 'cat *', results }] }] });
  const id = await b.run(await b.sandbox('web'), 'c');
  const other = await b.run(await b.sandbox('other'), 'c');
  const codes = [];
  for (let i = 0; i < 4; i++) codes.push((await exec(b, id, ['cat', '/ready'])).exitCode);
  assert.deepEqual(codes, [0, 0, 1, 1]);
  const last = await exec(b, id, ['cat', '/ready']);
  assert.deepEqual([last.stdout.toString(), last.stderr.toString()], ['', 'bad']);
  assert.equal((await exec(b, id, ['ls'])).exitCode, 0);
  assert.equal((await exec(b, other, ['cat', '/ready'])).exitCode, 0);
  b.sim.setExec({ match: { container: 'c' }, results: [{ code: 7 }] });
  assert.equal((await exec(b, id, ['cat', '/ready'])).exitCode, 7);
});

test('a command beyond its timeout is DeadlineExceeded; one in a container that ends gives 137', async (t) => {
  const b = await bench(t, { containers: [{ exec: [{ results: [{ hang: true }] }] }] });
  const id = await b.run(await b.sandbox('web'), 'c');
  await assert.rejects(exec(b, id, ['x'], 1), {
    code: status.DEADLINE_EXCEEDED,
    details: 'failed to exec in container: timeout 1s exceeded: context deadline exceeded',
  });
  const pending = exec(b, id, ['x']);
  await until(() => b.sim.state.calls.inFlight === 1);
  b.sim.exitContainer(id, 0);
  assert.equal((await pending).exitCode, 137);
  await assert.rejects(exec(b, id, ['x']), /container is in CONTAINER_EXITED state/);
});

test('a scripted exec call can fail itself', async (t) => {
  const fail = { code: 'Internal', message: 'runc broke' } as const;
  const b = await bench(t, { containers: [{ exec: [{ results: [{ fail }] }] }] });
  const id = await b.run(await b.sandbox('web'), 'c');
  await assert.rejects(exec(b, id, ['x']), { code: status.INTERNAL, details: 'runc broke' });
});

test('Exec, Attach and PortForward give URLs', async (t) => {
  const b = await bench(t);
  const podSandboxId = await b.sandbox('web');
  const containerId = await b.run(podSandboxId, 'c');
  const io = { stdin: false, stdout: true, stderr: true, tty: false };
  const urls = [
    await call(b.runtime, b.runtime.exec, { containerId, cmd: ['sh'], ...io }),
    await call(b.runtime, b.runtime.attach, { containerId, ...io }),
    await call(b.runtime, b.runtime.portForward, { podSandboxId, port: [80] }),
  ].map((answer) => answer.url.replace(/[0-9a-f]{8}$/, 'TOKEN'));
  assert.deepEqual(
    urls,
    ['exec', 'attach', 'portforward'].map((kind) => `http://127.0.0.1:10010/${kind}/TOKEN`),
  );
});

test('log lines are written at their times in the CRI format', async (t) => {
  const logs = [
    { text: 'hello' },
    { text: 'oops\nagain', stream: 'stderr' as const, at: 20 },
    { text: 'tick', at: 25, every: 5, times: 3 },
    // well behind the third tick, which comes late on a busy machine
    { text: 'x'.repeat(20_000), at: 400 },
  ];
  const b = await bench(t, { containers: [{ logs }] });
  const logDirectory = join(b.dir, 'logs');
  const id = await b.run(await b.sandbox('web', { logDirectory }), 'c');
  const path = join(logDirectory, 'c/0.log');
  assert.equal((await b.status(id)).logPath, path);
  const lines = () => readFileSync(path, 'utf8').split('\n').slice(0, -1);
  await until(() => lines().length === 8);
  const parts = lines().map((line) => LINE.exec(line)?.slice(1));
  assert.deepEqual(parts.slice(0, 6), [
    ['stdout', 'F', 'hello'],
    ['stderr', 'F', 'oops'],
    ['stderr', 'F', 'again'],
    ['stdout', 'F', 'tick'],
    ['stdout', 'F', 'tick'],
    ['stdout', 'F', 'tick'],
  ]);
  assert.deepEqual(
    parts.slice(6).map((part) => [part?.[1], part?.[2]?.length]),
    [
      ['P', 16_384],
      ['F', 20_000 - 16_384],
    ],
  );
});

test('a rotated log goes on in the old file until it is reopened', async (t) => {
  const b = await bench(t);
  const logDirectory = join(b.dir, 'logs');
  const containerId = await b.run(await b.sandbox('web', { logDirectory }), 'c');
  const path = join(logDirectory, 'c/0.log');
  b.sim.writeLog(containerId, 'one');
  renameSync(path, `${path}.old`);
  b.sim.writeLog(containerId, 'two');
  assert.equal(existsSync(path), false);
  await call(b.runtime, b.runtime.reopenContainerLog, { containerId });
  assert.equal(readFileSync(path, 'utf8'), '');
  b.sim.writeLog(containerId, 'three', 'stderr');
  assert.match(readFileSync(`${path}.old`, 'utf8'), /F one\n.*F two\n$/);
  assert.match(readFileSync(path, 'utf8'), /stderr F three\n$/);
  b.sim.exitContainer(containerId, 0);
  await assert.rejects(call(b.runtime, b.runtime.reopenContainerLog, { containerId }), /container is not running/);
});

test('log lines stop with the container, and none is left to come', async (t) => {
  const b = await bench(t, {
    containers: [{ logs: [{ text: 'tick', every: 2 }], attempts: [{ exit: { after: 30 } }] }],
  });
  const logDirectory = join(b.dir, 'logs');
  await b.run(await b.sandbox('web', { logDirectory }), 'c');
  await until(() => b.sim.state.timers === 0);
  assert.match(readFileSync(join(logDirectory, 'c/0.log'), 'utf8'), /F tick\n/);
});

test('CheckpointContainer writes its file', async (t) => {
  const b = await bench(t);
  const containerId = await b.run(await b.sandbox('web'), 'c');
  const location = join(b.dir, 'checkpoint');
  await call(b.runtime, b.runtime.checkpointContainer, { containerId, location, timeout: '0' });
  assert.equal((JSON.parse(readFileSync(location, 'utf8')) as { id: string }).id, containerId);
});
