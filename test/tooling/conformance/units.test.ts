import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { waitFor } from '../../tools/wait-for.ts';

const STAND_IN = join(import.meta.dirname, '../../conformance/services/units.sh');

test("the stand-in for systemd starts a program as a unit, finds it, starts it again and ends it, as Kubernetes' suite for nodes asks", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'actorlet-units-'));
  const env = { ...process.env, UNITS: join(folder, 'units') };
  const call = async (...words: string[]) => (await promisify(execFile)(STAND_IN, words, { env, cwd: folder })).stdout;
  const pid = async () => Number(await readFile(join(folder, 'units/kubelet-1/pid'), 'utf8'));
  const listed = () => call('sudo', STAND_IN, 'systemctl', 'list-units', '*kubelet*', '--state=running');
  t.after(async () => {
    await call('systemctl', 'stop', 'kubelet-1').catch(() => '');
    await rm(folder, { recursive: true });
  });

  assert.match(await call('systemd-run', '--version'), /^systemd \d+/);
  const log = join(folder, 'log');
  const program = ['sh', '-c', 'echo begins; sleep 1000 & trap "kill $!; echo ends; exit" TERM; wait'];
  await call(
    'systemd-run',
    '-p',
    'Delegate=true',
    '-p',
    `StandardError=append:${log}`,
    '--unit=kubelet-1.service',
    '--slice=x',
    ...program,
  );
  const first = await pid();
  assert.match(await listed(), /^kubelet-1\.service loaded active running /);
  await waitFor('its first word', async () => (await readFile(log, 'utf8')) === 'begins\n' || undefined);

  await call('systemctl', 'restart', 'kubelet-1');
  assert.notEqual(await pid(), first);
  assert.throws(() => process.kill(first, 0), /ESRCH/);
  await waitFor('both lives', async () => (await readFile(log, 'utf8')) === 'begins\nends\nbegins\n' || undefined);

  await call('systemctl', 'kill', 'kubelet-1.service');
  await waitFor('no unit that runs', async () => (await listed()) === '' || undefined);
  assert.match(await call('systemctl', 'list-units', '*kubelet*'), /^kubelet-1\.service loaded active exited /);
  await assert.rejects(call('systemctl', 'start', 'kubelet-2'), /unit kubelet-2\.service not found/);
});
