import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const SUPPORT = new URL('../../cluster/support/end-with-test.ts', import.meta.url).href;

test('a signal that ends the reader of what a test says, too, does not keep it from stopping what it has', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'signals-'));
  t.after(() => rm(dir, { recursive: true }));
  const file = join(dir, 'stopped');
  const program = `
    import { writeFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { stopOnSignal } from '${SUPPORT}';
    stopOnSignal(async () => {
      for (let i = 0; i < 10; i++) { console.log('still at it'); console.error('still at it'); await sleep(10); }
      writeFileSync('${file}', 'yes');
    });
    setInterval(() => undefined, 60_000);
    console.log('ready');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'pipe'] });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  child.stderr.destroy();
  child.kill('SIGTERM');
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  assert.equal(signal, 'SIGTERM');
  assert.equal(await readFile(file, 'utf8'), 'yes');
});
