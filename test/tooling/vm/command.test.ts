import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const VM = join(import.meta.dirname, '../../../bin/vm');

/** Runs `bin/vm` where no machine was ever made. */
async function vm(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const cache = await mkdtemp(join(tmpdir(), 'actorlet-vm-'));
  try {
    return await new Promise((resolve) => {
      execFile(VM, words, { env: { ...process.env, ACTORLET_CACHE: cache } }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });
  } finally {
    await rm(cache, { recursive: true });
  }
}

test('--help tells all commands and options, and needs nothing', async () => {
  const { code, out } = await vm('--help');
  assert.equal(code, 0);
  for (const word of [
    'build',
    'up',
    'run',
    'copy',
    'reboot',
    'down',
    '--name',
    '--cpus',
    '--memory',
    '--swap',
    '--share',
  ])
    assert.match(out, new RegExp(`\\b${word.replace(/^--/, '')}\\b`), word);
  assert.deepEqual([(await vm()).code, (await vm()).err.includes(out.trim())], [2, true]);
});

test('wrong input: what is wrong, in one line, and code 2', async () => {
  for (const [words, text] of [
    [['start'], "vm: unknown command 'start'; see bin/vm --help\n"],
    [['--fast', 'up'], 'vm: unknown option --fast; see bin/vm --help\n'],
    [['up', '--cpus', 'many'], "vm: --cpus takes a number, not 'many'; see bin/vm --help\n"],
    [['up', '--swap'], 'vm: --swap takes a value; see bin/vm --help\n'],
    [['up', 'down'], 'vm: one command at a time, not up and down; see bin/vm --help\n'],
    [['--share', '/nowhere', 'up'], 'vm: --share /nowhere: no such folder; see bin/vm --help\n'],
    [['up', '--cpus', '3', '--numa', '2'], 'vm: --cpus 3 cannot be shared by 2 NUMA nodes; see bin/vm --help\n'],
    [
      ['up', '--cpus', '6', '--numa', '2', '--threads', '2'],
      'vm: --cpus 6 in 2 NUMA nodes are no cores of 2 threads; see bin/vm --help\n',
    ],
    [
      ['up', '--cpus', '6', '--numa', '2'],
      'vm: --cpus 6 in 2 NUMA nodes are 3 cores each; 1, 2, 4 or 8 boot; see bin/vm --help\n',
    ],
    [['--name', '../x', 'down'], "vm: --name takes a-z, 0-9 and '-', not '../x'; see bin/vm --help\n"],
    [['run'], 'vm: run takes a command; see bin/vm --help\n'],
    [['up', '--crash'], 'vm: --crash is for reboot; see bin/vm --help\n'],
    [['copy', 'a'], 'vm: copy takes a source and a target; see bin/vm --help\n'],
  ] as const)
    assert.deepEqual(await vm(...words), { code: 2, out: '', err: text }, words.join(' '));
});

test('a machine that does not run: how to start it; ending it is fine', async () => {
  assert.deepEqual(await vm('run', 'true'), { code: 1, out: '', err: "vm: machine 'vm' does not run; bin/vm up\n" });
  assert.deepEqual(await vm('reboot'), { code: 1, out: '', err: "vm: machine 'vm' does not run; bin/vm up\n" });
  assert.deepEqual(await vm('copy', '/etc/hostname', '/tmp/'), {
    ...{ code: 1, out: '' },
    err: "vm: machine 'vm' does not run; bin/vm up\n",
  });
  assert.deepEqual(await vm('--name', 'other', 'down'), { code: 0, out: '', err: '' });
});
