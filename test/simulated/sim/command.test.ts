import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { credentials } from '@grpc/grpc-js';
import { RuntimeServiceClient } from '../../../cri/generated/runtime/v1/api.ts';
import { call } from './sim-client.ts';

const COMMAND = new URL('../../../bin/commands/sim.ts', import.meta.url).href;
const RUN = `import { simCommand } from ${JSON.stringify(COMMAND)};
await simCommand().parseAsync(process.argv.slice(1), { from: 'user' }).catch((error) => {
  console.error(error.message); process.exitCode = 1;
});`;

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`actorlet sim says when it is ready, serves its script, and ${signal} stops it`, async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'sim-'));
    const [socket, script] = [join(dir, 's.sock'), join(dir, 's.yaml')];
    writeFileSync(script, 'runtime: { version: 9.8.7 }\n');
    const args = ['--input-type=module', '-e', RUN, '--', '--socket', socket, '--script', script, '--seed', '3'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const exit = once(child, 'exit');
    const runtime = new RuntimeServiceClient(`unix:${socket}`, credentials.createInsecure());
    t.after(async () => {
      child.kill('SIGKILL');
      await exit;
      runtime.close();
      rmSync(dir, { recursive: true, force: true });
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    assert.equal(line.toString(), `simulated runtime ready on unix://${socket} (seed 3)\n`);
    assert.equal((await call(runtime, runtime.version, { version: '' })).runtimeVersion, '9.8.7');
    child.kill(signal);
    assert.deepEqual(await exit, [0, null]);
    assert.equal(existsSync(socket), false);
  });
}

test('a wrong seed is refused with its code', async () => {
  const args = ['--input-type=module', '-e', RUN, '--', '--socket', '/nonexistent/s', '--seed', 'x'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.on('data', (data: Buffer) => (text += data.toString()));
  assert.deepEqual(await once(child, 'close'), [1, null]);
  assert.match(text, /SIM008: --seed is x/);
});
