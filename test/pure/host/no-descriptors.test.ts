import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

// A child process that Node has no descriptors for has no pipes, and an error that comes later.

const AT = new URL('../../../actors/', import.meta.url).href;

/** Takes all descriptors of a process, does `work` in it, and gives what that prints. */
async function without(work: string): Promise<string[]> {
  const script = `
    import { openSync } from 'node:fs';
    import { CommandShell } from '${AT}host/files/command-shell.ts';
    import { inhibitByProcess } from '${AT}host/logind/inhibitor-process.ts';
    import { runPlugin } from '${AT}runtime/images/run-plugin.ts';
    const plugin = { name: 'p', path: '/bin/true', args: [], env: {} };
    const shell = new CommandShell(1_000, 5_000);
    try { for (;;) openSync('/dev/null', 'r'); } catch {}
    process.on('uncaughtException', (error) => console.log('uncaught', error.message));
    ${work}
  `;
  const args = ['-c', 'ulimit -n 64; exec "$0" --input-type=module-typescript -e "$1"', process.execPath, script];
  const { stdout } = await promisify(execFile)('/bin/sh', args, { timeout: 30_000 });
  return stdout.trim().split('\n');
}

test('commands for the shell fail, each by itself', async () => {
  const work = `
    for (const word of ['a', 'b']) console.log(JSON.stringify(await shell.run('echo', [word])));
  `;
  const failed = '{"status":null,"output":""}';
  assert.deepEqual(await without(work), [failed, failed]);
});

test('a credential plugin is told of as one that could not be started', async () => {
  const [said, ...more] = await without(
    `await runPlugin(plugin, 'i', '{}', 1_000).catch((e) => console.log(e.message));`,
  );
  assert.match(said ?? '', /^error execing credential provider plugin p for image i: spawn .*EMFILE/);
  assert.deepEqual(more, []);
});

test("so is the holder of logind's lock", async () => {
  const [said, ...more] = await without(`await inhibitByProcess('/x', () => {}).catch((e) => console.log(e.message));`);
  assert.match(said ?? '', /^HOST035: .*EMFILE/);
  assert.deepEqual(more, []);
});
