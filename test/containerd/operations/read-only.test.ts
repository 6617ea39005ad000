import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { isReady } from '../agent/support/seen.ts';
import { TestNode } from '../agent/support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { linesSaying, refusals } from './support/agent-words.ts';
import { assertUntouched, diskPod } from './support/observed-pods.ts';
import { SmallDisk } from './support/small-disk.ts';

describe('a root directory that turns read-only', { concurrency: false }, () => {
  let clean: MachineState;
  let node: TestNode;
  let disk: SmallDisk;
  let journal: SmallDisk;
  before(async () => {
    clean = await machineState();
    disk = await SmallDisk.make(16);
    journal = await SmallDisk.make(16);
    // The kernel remounts at an error whatever is open; mount(8) does not while the journal is.
    node = await TestNode.make({ flags: ['--root-dir', disk.path, '--journal-dir', join(journal.path, 'journal')] });
  });
  after(async () => {
    await node.stop();
    await disk.remove();
    await journal.remove();
    await assertNothingLeft(clean);
  });

  it('what runs runs on, what ends is stopped, new pods say why they wait, and all goes on when it is writable', async () => {
    await node.startAgent();
    for (const name of ['old', 'goes']) await node.write(`${name}.json`, diskPod(name));
    for (const name of ['old', 'goes']) await node.waitPod(name, 'ready', isReady);
    const running = await node.running('old');
    await disk.setReadOnly();

    await node.write('new.json', diskPod('new'));
    await waitFor(
      'the event that says why',
      async () =>
        (await node.events('new')).find((e) =>
          /^Failed: error making pod data directories: HOST013: The file system of .* is read-only: EROFS.*dmesg/.test(
            e,
          ),
        ),
      async () => (await node.events('new')).join('\n'),
    );
    assert.deepEqual(await node.running('new'), {});
    // its containers end in time; its folder cannot be removed yet
    await node.remove('goes.json');
    await waitFor('its containers to end', async () =>
      Object.keys(await node.running('goes')).length === 0 ? true : undefined,
    );
    // No line for each try: longer than the pause (10 s) of the journal and the checkpoints.
    await sleep(12_000);
    await assertUntouched(node, 'old', running);
    assert.ok((await linesSaying(node, 'Checkpoint')).length <= 2, JSON.stringify(await refusals(node)));
    // The disk may take long over it (JRN012), and be given up for that; refusals there are none.
    const stopped = await linesSaying(node, 'Journal stopped');
    assert.deepEqual(
      stopped.filter((line) => !line.includes('JRN012')),
      [],
    );

    // an agent that starts on it takes over what runs
    await node.agent.kill();
    await node.startAgent();
    await node.waitPod('old', 'ready under the new agent', isReady);
    await assertUntouched(node, 'old', running);

    const { pid } = node.agent;
    await disk.setWritable();
    await node.waitPod('new', 'ready', isReady);
    await node.waitGone('goes');
    await assertUntouched(node, 'old', running);
    assert.equal(node.agent.pid, pid);
  });
});
