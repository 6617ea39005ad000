import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';

const run = promisify(execFile);
const bin = (name: string) => fileURLToPath(new URL(`../../../bin/${name}`, import.meta.url));

test('bin/demo --check: the real agent runs the pod, everything is removed, and its message log replays', async () => {
  const before = await machineState();
  const dir = await mkdtemp(join(tmpdir(), 'demo-journal-'));
  try {
    const journal = join(dir, 'journal.jsonl');
    const { stdout } = await run(bin('demo'), ['--check', '--no-install', '--journal', journal]);
    assert.match(stdout, /syncing\.creatingSandbox[^]*syncing\.initializing[^]*syncing\.running/);
    assert.match(stdout, /is Running at/);
    assert.match(stdout, /terminated\.finished/);
    assert.match(stdout, /check passed/);
    const replayed = await run(bin('actorlet'), ['replay', journal]);
    assert.equal(replayed.stdout, 'identical\n');

    // The log is not just accepted: one changed outcome is found and named.
    const lines = (await readFile(journal, 'utf8')).split('\n');
    const at = lines.findIndex((l) => l.includes('"effect":"cri.RunPodSandbox"'));
    assert.ok(at >= 0);
    const changed = join(dir, 'changed.jsonl');
    lines[at] = (lines[at] ?? '').replace(/"podSandboxId":"[0-9a-f]+"/, '"podSandboxId":"other"');
    await writeFile(changed, lines.join('\n'));
    await assert.rejects(run(bin('actorlet'), ['replay', changed]), (error: { code?: number; stdout?: string }) => {
      assert.equal(error.code, 1);
      assert.match(error.stdout ?? '', /^different: effect 1 of 1[^]*recorded:[^]*computed:[^]*"podSandboxId":"other"/);
      return true;
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
  await assertNothingLeft(before);
});
