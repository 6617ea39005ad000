import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../../..');

test('docs/examples/own-pods.ts runs as it stands: the pod comes, is explained, goes, and nothing is left', async (t) => {
  const hooks = join(import.meta.dirname, 'as-package.ts');
  const before = leftovers();
  const child = spawn(process.execPath, ['--import', hooks, join(ROOT, 'docs/examples/own-pods.ts')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (err += data.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  assert.equal(code, 0, `${out}\n${err}`);
  const states = out
    .split('\n')
    .map((line) => line.split(' ')[0])
    .filter((word) => /^(syncing|terminat)/.test(word ?? ''));
  assert.ok(states.includes('syncing.running') && states.at(-1) === 'terminated.finished', out);
  assert.ok(states.indexOf('syncing.running') > states.indexOf('syncing.creatingSandbox'), out);
  assert.match(
    out,
    /^is in syncing\.running since .*: all that should run runs.*; spec came from the source example at /m,
  );
  assert.doesNotMatch(err, /Error/);
  assert.deepEqual(leftovers(), before);
});

function leftovers(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('own-pods-'));
}
