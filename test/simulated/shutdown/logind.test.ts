/** logind over a real message bus: D-Bus's own daemon, systemd's own `systemd-inhibit`, and a logind that passes real file descriptors. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Logind } from '../../../actors/host/logind/logind.ts';
import { until, waitFor } from '../../tools/wait-for.ts';
import { lacksBus, PrivateBus } from './support/private-bus.ts';

const skip = await lacksBus();
const silent = { onPrepare: () => undefined, onLost: () => undefined };
const LOCK = 'shutdown|kubelet|Kubelet needs time to handle node shutdown|delay';

test('asks how long logind waits, and hears a shutdown and its end', { skip }, async (t) => {
  const bus = await PrivateBus.start(t, 7);
  const heard: boolean[] = [];
  const logind = new Logind({ socket: bus.socket, configDir: bus.configDir });
  const session = await logind.open({ ...silent, onPrepare: (active) => void heard.push(active) });
  t.after(() => session.close());
  assert.equal(await session.delayMs(), 7_000);
  assert.equal(await session.preparing(), false);
  await bus.order('nonsense');
  await bus.order('prepare');
  await until(() => heard.length === 1);
  assert.equal(await session.preparing(), true);
  await bus.order('cancel');
  await until(() => heard.length === 2);
  assert.deepEqual(heard, [true, false], 'and nothing of what was no signal of a shutdown');
});

test('holds a lock until it is given back, and tells when somebody else ended it', { skip }, async (t) => {
  const bus = await PrivateBus.start(t, 7);
  const logind = new Logind({ socket: bus.socket });
  const lost: string[] = [];
  const first = await logind.inhibit((why) => void lost.push(why));
  assert.equal(await bus.tells(/^locked 1/), `locked 1 ${LOCK}`);
  // Taken anew, as after a restart of logind: the other is held meanwhile.
  const second = await logind.inhibit((why) => void lost.push(why));
  t.after(() => second.release());
  await bus.tells(/^locked 2/);
  assert.ok(!bus.told.includes('released 1'));
  await first.release();
  await bus.tells('released 1');
  assert.deepEqual(lost, []);

  // Somebody ends the process that holds the other one.
  for (const child of readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' '))
    if (readFileSync(`/proc/${child}/cmdline`, 'utf8').startsWith('systemd-inhibit'))
      process.kill(Number(child), 'SIGKILL');
  await until(() => lost.length === 1);
  assert.deepEqual(lost, ['systemd-inhibit ended (SIGKILL)']);
  await bus.tells('released 2');

  await bus.order('refuse');
  await assert.rejects(
    logind.inhibit(() => undefined),
    { code: 'HOST035', message: /logind could not give an inhibitor lock: .*already running/ },
  );
});

test('a lock ends with the agent, also when it is killed', { skip }, async (t) => {
  const bus = await PrivateBus.start(t, 7);
  const script = `
    import { Logind } from ${JSON.stringify(join(import.meta.dirname, '../../../actors/host/logind/logind.ts'))};
    await new Logind({ socket: process.argv[1] }).inhibit(() => undefined);
    console.log('held');
    setInterval(() => undefined, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module-typescript', '-e', script, bus.socket], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => holder.kill('SIGKILL'));
  await new Promise((resolve) => void holder.stdout.once('data', resolve));
  assert.ok(!bus.told.includes('released 1'));
  holder.kill('SIGKILL');
  await bus.tells('released 1');
});

test('has logind wait longer, by the file that kubelet writes', { skip }, async (t) => {
  const bus = await PrivateBus.start(t, 5);
  const { socket, configDir } = bus;
  const session = await new Logind({ socket, configDir }).open(silent);
  t.after(() => session.close());
  assert.equal(await session.raiseDelay(35_000), 35_000);
  const path = join(configDir, '99-kubelet.conf');
  assert.equal(readFileSync(path, 'utf8'), '# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=35\n');
  assert.equal(statSync(path).mode & 0o777, 0o644, 'kubernetes#97949');
  await bus.tells('killed systemd-logind.service|all|1');
  assert.equal(await session.delayMs(), 35_000);
  await bus.order('deaf');
  assert.equal(await session.raiseDelay(60_000), 35_000, 'what logind does not do is told, not hidden');
});

test(
  'a bus that is restarted is told as lost, and one that is not there is said to be missing',
  { skip },
  async (t) => {
    const bus = await PrivateBus.start(t, 7);
    const logind = new Logind({ socket: bus.socket });
    const lost: string[] = [];
    const session = await logind.open({ ...silent, onLost: (why) => void lost.push(why) });
    await bus.down();
    await until(() => lost.length === 1);
    await assert.rejects(session.delayMs(), { code: 'HOST035' });
    await assert.rejects(logind.open(silent), {
      code: 'HOST034',
      message: /logind cannot be reached over D-Bus: .*bus: /,
    });
    await bus.up();
    const again = await waitFor('a connection', () => logind.open({ ...silent, onLost: (why) => void lost.push(why) }));
    assert.equal(await again.delayMs(), 7_000);
    again.close();
    await bus.down();
    assert.equal(lost.length, 1, 'one that was closed is not lost');
  },
);
