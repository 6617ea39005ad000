import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isReady, statusOf } from '../agent/support/seen.ts';
import { TestNode } from '../agent/support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { linesSaying, refusals } from './support/agent-words.ts';
import { assertUntouched, diskPod } from './support/observed-pods.ts';
import { SmallDisk } from './support/small-disk.ts';

const MAIN = fileURLToPath(new URL('../../../bin/actorlet.ts', import.meta.url));
const exec = promisify(execFile);
/** Longer than two of the journal's and the checkpoints' pauses (10 s): a line for each try would show. */
const OUTAGE_MS = 24_000;

describe('a disk without space', { concurrency: false }, () => {
  let clean: MachineState;
  before(async () => {
    clean = await machineState();
  });
  after(async () => {
    await assertNothingLeft(clean);
  });

  async function withDisk(flags: (dir: string) => string[], body: (n: TestNode, d: SmallDisk) => Promise<void>) {
    const disk = await SmallDisk.make(16);
    try {
      const node = await TestNode.make({ flags: flags(disk.path) });
      try {
        await body(node, disk);
      } finally {
        await node.stop();
      }
    } finally {
      await disk.remove();
    }
  }

  it('under the root directory: what runs runs on, new pods say why they wait, and start once there is room', async () => {
    await withDisk(
      (dir) => ['--root-dir', dir],
      async (node, disk) => {
        await node.startAgent();
        for (const name of ['old', 'goes']) await node.write(`${name}.json`, diskPod(name));
        for (const name of ['old', 'goes']) await node.waitPod(name, 'ready', isReady);
        const running = await node.running('old');
        await disk.fill();

        await node.write('new.json', diskPod('new'));
        const waiting = await node.waitPod('new', 'waiting for space', (p) =>
          /^HOST012: /.test(statusOf(p, 'a').state?.waiting?.message ?? ''),
        );
        const { reason, message } = statusOf(waiting, 'a').state?.waiting ?? {};
        assert.equal(reason, 'CreateContainerConfigError');
        assert.match(message ?? '', new RegExp(`No space is left for ${disk.path}.*ENOSPC.*df -h`));
        assert.ok((await node.events('new')).some((e) => /^Failed: Error: HOST012: /.test(e)));
        await sleep(OUTAGE_MS);
        await assertUntouched(node, 'old', running);
        // a pod that goes is stopped and taken away although nothing can be written
        await node.remove('goes.json');
        await node.waitGone('goes');

        // one line for an outage: each log of the journal (shards' and the supervisor's share a folder), each of the two checkpoints
        const told = await refusals(node);
        const lines = Object.entries(told).filter(([text]) => !/^(Event occurred|Pod state changed)/.test(text));
        assert.ok(
          lines.every(([text]) => /(JRN|NOD)#/.test(text)),
          JSON.stringify(told),
        );
        for (const [text, times] of lines.filter(([line]) => line.startsWith('Journal stopped')))
          assert.ok(times <= (/journal cannot be/.test(text) ? 3 : 1), JSON.stringify(told));
        assert.ok((await linesSaying(node, 'Checkpoint')).length <= 2, JSON.stringify(told));
        assert.ok((await linesSaying(node, 'Journal stopped')).every((line) => line.includes('JRN004')));

        // an agent that starts on the full disk takes over what runs
        await node.agent.kill();
        await node.startAgent();
        await node.waitPod('old', 'ready under the new agent', isReady);
        await assertUntouched(node, 'old', running);
        await node.waitPod('new', 'waiting still', (p) =>
          /^HOST012: /.test(statusOf(p, 'a').state?.waiting?.message ?? ''),
        );

        const { pid } = node.agent;
        await disk.free();
        await node.waitPod('new', 'ready', isReady);
        await assertUntouched(node, 'old', running);
        await waitFor('the journal to go on', async () =>
          (await linesSaying(node, 'Journal goes on in a new segment')).length > 0 ? true : undefined,
        );
        assert.equal(node.agent.pid, pid);
        assert.equal(node.agent.exit, null);
        assert.equal(statusOf((await node.pod('new')) ?? {}, 'a').restartCount, 0);
      },
    );
  });

  it('under the journal: the agent does its work without one, says so once, and goes on with it in a new segment', async () => {
    await withDisk(
      (dir) => ['--journal-dir', join(dir, 'journal')],
      async (node, disk) => {
        const dir = join(disk.path, 'journal');
        await node.startAgent();
        await node.write('old.json', diskPod('old'));
        await node.waitPod('old', 'ready', isReady);
        const running = await node.running('old');
        await disk.fill();
        // no pod needs this disk
        await node.write('new.json', diskPod('new'));
        await node.waitPod('new', 'ready although there is no journal', isReady);
        await node.write('brief.json', diskPod('brief'));
        await node.waitPod('brief', 'ready', isReady);
        await node.remove('brief.json');
        await node.waitGone('brief');
        await sleep(OUTAGE_MS);
        await assertUntouched(node, 'old', running);
        const stopped = await linesSaying(node, 'Journal stopped');
        assert.ok(stopped.length >= 1 && stopped.length <= 3, stopped.join('\n'));
        assert.match(
          stopped[0] ?? '',
          /JRN004: The journal in .* cannot be written: ENOSPC.*goes on without a journal/,
        );
        const logs = stopped.filter((line) => line.includes('shard-')).length;
        assert.ok(logs <= 1, stopped.join('\n'));
        const files = (await readdir(dir, { recursive: true })).length;

        await disk.free();
        await waitFor('the journal to go on', async () =>
          (await linesSaying(node, 'Journal goes on in a new segment')).length > 0 ? true : undefined,
        );
        // the supervisor's log goes on with its next message
        await node.write('after.json', diskPod('after'));
        await node.waitPod('after', 'ready', isReady);
        // each try that failed left nothing: one more segment for each log that stopped
        assert.ok((await readdir(dir, { recursive: true })).length <= files + stopped.length);
        const crowd = await node.running('new');
        await node.agent.kill();
        await node.startAgent();
        await node.waitPod('new', 'ready under the next agent', isReady);
        assert.deepEqual(await node.running('new'), crowd);
        await node.agent.terminate();
        const { stdout } = await exec(process.execPath, [MAIN, 'replay', dir]);
        assert.equal(stdout, 'identical\n', 'what was written before and after the gap');
      },
    );
  });

  it('an agent that cannot write its journal from the first moment on starts all the same', async () => {
    await withDisk(
      (dir) => ['--journal-dir', join(dir, 'journal')],
      async (node, disk) => {
        await disk.fill();
        await node.startAgent();
        await node.write('a.json', diskPod('a'));
        await node.waitPod('a', 'ready', isReady);
        await disk.free();
        // Each log goes on by itself, with its next message after its pause: that of a shard must have one, too.
        const journal = join(disk.path, 'journal');
        let updates = 0;
        await waitFor('a message to a pod in the journal', async () => {
          const pod = diskPod('a');
          const metadata = { ...(pod.metadata as object), annotations: { update: String(updates++) } };
          await node.write('a.json', { ...pod, metadata });
          await sleep(1000);
          const segments = (await readdir(journal)).filter((file) => file.startsWith('shard-'));
          const texts = await Promise.all(segments.map((file) => readFile(join(journal, file), 'utf8')));
          return texts.some((text) => text.includes('{"r":"msg"')) ? true : undefined;
        });
        await node.agent.terminate();
        const { stdout } = await exec(process.execPath, [MAIN, 'replay', journal]);
        assert.equal(stdout, 'identical\n');
        await writeFile(join(disk.path, 'still-writable'), '');
      },
    );
  });
});
