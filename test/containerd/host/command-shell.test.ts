import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { CommandShell } from '../../../actors/host/files/command-shell.ts';

test('status and output of each command, whatever it prints', async () => {
  const shell = new CommandShell(5_000, 10_000);
  const all = await Promise.all([
    shell.run('echo', ['a', 'b  c']),
    shell.run('sh', ['-c', 'echo out; echo err >&2; exit 32']),
    shell.run('no-such-command', []),
    shell.run('printf', ['no newline']),
    // What reads its input gets none, instead of the commands that follow.
    shell.run('cat', []),
    shell.run('sh', ['-c', 'echo $LC_ALL; pwd']),
    shell.run('printf', ['%s', 'two\nlines']),
  ]);
  assert.deepEqual(all[0], { status: 0, output: 'a b  c\n' });
  assert.deepEqual(all[1], { status: 32, output: 'out\nerr\n' });
  assert.equal(all[2]?.status, 127);
  assert.deepEqual(all[3], { status: 0, output: 'no newline' });
  assert.deepEqual(all[4], { status: 0, output: '' });
  assert.deepEqual(all[5], { status: 0, output: 'C\n/\n' });
  assert.deepEqual(all[6], { status: 0, output: 'two\nlines' });
});

test('no argument is anything but an argument', async () => {
  const shell = new CommandShell(5_000, 10_000);
  const word = fc.string({ unit: fc.constantFrom("'", '"', '$', '`', '\\', ' ', 'a', ';', '*', '~', 'é', '\n', '#') });
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 4 }), async (words) => {
      const { status, output } = await shell.run('printf', ['<%s>', ...words]);
      assert.deepEqual([status, output], [0, words.map((one) => `<${one}>`).join('')]);
    }),
    { numRuns: 60 },
  );
});

test('a command that hangs holds up no other, and is killed in the end with its shell', async () => {
  const shell = new CommandShell(50, 6_000);
  const ended: string[] = [];
  const hung = shell.run('sh', ['-c', 'echo begun; exec sleep 1000']).then((result) => {
    ended.push('hung');
    return result;
  });
  await shell.run('echo', []).then(() => ended.push('echo'));
  assert.deepEqual(await hung, { status: null, output: 'begun\n' });
  assert.deepEqual(ended, ['echo', 'hung']);
  assert.equal((await shell.run('echo', ['on'])).output, 'on\n');
});

test('the shell neither holds up the end of its process nor outlives it', async () => {
  const module = join(import.meta.dirname, '../../../actors/host/files/command-shell.ts');
  const source = `import { CommandShell } from ${JSON.stringify(module)};
    const { output } = await new CommandShell(1000, 5000).run('sh', ['-c', 'echo $PPID']);
    process.stdout.write(output);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source]);
  const pid = Number(stdout);
  assert.ok(pid > 1);
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
});
