import assert from 'node:assert/strict';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { isReady, restartsOf } from '../agent/support/seen.ts';
import { NODE_NAME, TestNode } from '../agent/support/test-node.ts';
import { podOf, runs, shell } from '../agent/support/test-pod.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';

const MiB = 1024 * 1024;
const MAX_FILES = 3;
const MAX_SIZE = MiB;
const INTERVAL_S = 3;
/** Lines a second, and bytes of one as the runtime writes it: 39 of time and stream, the line, its end. */
const LINES = 10_000;
const LINE_BYTES = 39 + 64 + 1;

describe('a container that writes 10,000 lines a second', { concurrency: false }, () => {
  let clean: MachineState;
  let node: TestNode;
  before(async () => {
    clean = await machineState();
    node = await TestNode.make({
      config: {
        containerLogMaxSize: '1Mi',
        containerLogMaxFiles: MAX_FILES,
        containerLogMonitorInterval: `${INTERVAL_S}s`,
      },
    });
    await node.startAgent();
  });
  after(async () => {
    await node.stop();
    await assertNothingLeft(clean);
  });

  async function rss(): Promise<number> {
    const status = await readFile(`/proc/${node.agent.pid}/status`, 'utf8');
    return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / MiB;
  }

  it('its log is rotated and bounded, the agent does not grow, and other pods are served', async () => {
    // a thousand lines each tenth of a second
    const script =
      'trap "exit 0" TERM; l=$(printf "%063d" 0); b=$(for i in $(seq 1000); do echo "$l"; done); ' +
      'while :; do echo "$b"; sleep 0.1; done';
    await node.write('loud.json', podOf('loud', [shell('a', script)]));
    const pod = await node.waitPod('loud', 'ready', isReady);
    const loud = await node.running('loud');
    const dir = join(node.podLogs, `default_loud-${NODE_NAME}_${pod.metadata?.uid ?? ''}`, 'a');
    await waitFor('a compressed log', async () =>
      (await readdir(dir)).some((n) => n.endsWith('.gz')) ? true : undefined,
    );
    const begin = await rss();
    let most = 0;
    let files = 0;
    for (let round = 0; round < 6; round++) {
      // meanwhile pods come, are served, and go
      const name = `quiet${round}`;
      await node.write(
        `${name}.json`,
        podOf(name, [shell('a', 'echo here; trap "exit 0" TERM; while :; do sleep 0.1; done')]),
      );
      await node.waitPod(name, 'ready', isReady);
      const said = await waitFor('its word', async () => {
        const log = await node.log(name, 'a');
        return log.length > 0 ? log : undefined;
      });
      assert.deepEqual(said, ['here']);
      await node.remove(`${name}.json`);
      await node.waitGone(name);
      await sleep(2_000);
      const names = await readdir(dir);
      const sizes = await Promise.all(
        names.map((n) =>
          stat(join(dir, n)).then(
            (s) => s.size,
            () => 0,
          ),
        ),
      );
      most = Math.max(
        most,
        sizes.reduce((sum, size) => sum + size, 0),
      );
      files = Math.max(files, names.filter((n) => !n.endsWith('.tmp')).length);
    }
    const end = await rss();
    // between two looks a log grows beyond its size; on a busy machine a look comes late
    const bound = MAX_FILES * (MAX_SIZE + 3 * INTERVAL_S * LINES * LINE_BYTES);
    assert.ok(most < bound, `${most} bytes of logs, ${bound} are the bound`);
    // a log that is being compressed stands there twice
    assert.ok(files <= MAX_FILES + 1, `${files} files`);
    assert.ok(end - begin < 48, `the agent grew from ${begin.toFixed(0)} to ${end.toFixed(0)} MiB`);
    assert.deepEqual(await node.running('loud'), loud);
    assert.deepEqual(restartsOf((await node.pod('loud')) ?? {}), { a: 0 });
    await node.remove('loud.json');
    await node.waitGone('loud');
    await node.write('after.json', podOf('after', [runs('a')]));
    await node.waitPod('after', 'ready', isReady);
  });
});
