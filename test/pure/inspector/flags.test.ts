import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { daemonFlags, readDaemonOptions } from '../../../bin/flags/daemon-options.ts';

function inspect(...args: string[]) {
  const command = new Command('actorlet').exitOverride().configureOutput({ writeErr: () => undefined });
  daemonFlags(command);
  command.parse(args, { from: 'user' });
  return readDaemonOptions(command).settings.inspect;
}

test('--inspect: off by default, with and without a value; what follows it is no value', () => {
  const preset = { host: '127.0.0.1', port: 10_270 };
  assert.equal(inspect(), null);
  assert.deepEqual(inspect('--inspect'), preset);
  assert.deepEqual(inspect('--inspect', '--v=2'), preset);
  assert.deepEqual(inspect('--inspect=true'), preset);
  assert.deepEqual(inspect('--inspect=0.0.0.0:99'), { host: '0.0.0.0', port: 99 });
  assert.equal(inspect('--inspect=false'), null);
  assert.throws(() => inspect('--inspect=1.2.3.4:99999'), /--inspect/);
});

test('--inspect needs the journal', () => {
  assert.throws(() => inspect('--inspect', '--no-journal'), /INS003/);
  assert.equal(inspect('--inspect=false', '--no-journal'), null);
});
