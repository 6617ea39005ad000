import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { runCommand } from '../../../cri/private-containerd/run-command.ts';
import { bench, manifest, running, until } from '../../simulated/agent/support/bench.ts';

const skip = process.getuid?.() !== 0;

async function run(command: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await runCommand(command, args);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr}`);
}

/** A disk of its own (ext4 in a file) that can be stopped: whoever writes then waits. */
async function stoppableDisk(
  t: TestContext,
): Promise<{ path: string; stop: () => Promise<void>; goOn: () => Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'stopped-disk-'));
  const path = join(dir, 'disk');
  let guard: ChildProcess | undefined;
  const goOn = async (): Promise<void> => {
    if (guard === undefined) return;
    const ended = once(guard, 'exit');
    guard.stdin?.end();
    await ended;
    guard = undefined;
  };
  t.after(async () => {
    await goOn();
    await run('umount', path);
    await rm(dir, { recursive: true });
  });
  await mkdir(path);
  await run('truncate', '-s', '64M', join(dir, 'image'));
  await run('mkfs.ext4', '-q', join(dir, 'image'));
  await run('mount', '-o', 'loop', join(dir, 'image'), path);
  return {
    path,
    goOn,
    stop: async () => {
      // What waits for a stopped disk cannot be killed: it goes on when this process ends, however it does.
      guard = spawn('sh', ['-c', 'read line; exec fsfreeze -u "$0"', path], { stdio: ['pipe', 'ignore', 'ignore'] });
      await run('fsfreeze', '-f', path);
    },
  };
}

test('while the disk of the journal stands still pods come and go, and no worker is replaced', { skip }, async (t) => {
  // The first hook: the disk goes on before the agent is ended.
  const ends: (() => Promise<void>)[] = [];
  const disk = await stoppableDisk(t);
  const b = await bench(
    { after: (end) => void ends.push(end as () => Promise<void>) },
    {
      settings: { journalDir: join(disk.path, 'journal') },
    },
  );
  try {
    await b.put('before.yaml', manifest('before'));
    await running(b, 1);
    await disk.stop();
    await b.put('during.yaml', ...Array.from({ length: 6 }, (_, n) => manifest(`during${n}`)));
    await running(b, 7);
    const value = async (name: string) =>
      [...(await b.agent.metrics()).matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'gm'))].reduce(
        (sum, [, number]) => sum + Number(number),
        0,
      );
    // What a worker counts comes each second.
    await until('the stalls to be counted', async () => (await value('actorlet_journal_stalls_total')) > 0);
    assert.ok((await value('actorlet_journal_lost_lines_total')) > 0);
    // More than the three seconds after which a worker that does not move is replaced.
    const stopped = performance.now();
    await until('five seconds', () => performance.now() - stopped > 5_000);
    await b.remove('before.yaml');
    await until('the end of a pod', async () => (await b.agent.tracked()) === 6);
    assert.equal(await value('actorlet_shard_restarts_total'), 0);
    await disk.goOn();
    // Each log goes on with its next message.
    const bytes = await value('actorlet_journal_bytes_total');
    await b.put('after.yaml', manifest('after'), manifest('after2'), manifest('after3'));
    await running(b, 9);
    await until('the journal to go on', async () => (await value('actorlet_journal_bytes_total')) > bytes);
  } finally {
    await disk.goOn();
    for (const end of ends) await end();
  }
});
