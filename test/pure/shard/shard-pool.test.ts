import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import type { Piscina } from 'piscina';
import { ownThread } from '../../../actors/host/kernel/thread-cpu.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { ShardPool } from '../../../actors/pods/shard/shard-pool.ts';
import type { ShardPoolOptions } from '../../../actors/pods/shard/shard-pool.ts';
import { WorkMarks } from '../../../actors/pods/shard/work-marks.ts';
import { waitFor } from '../../tools/wait-for.ts';
import type { ShardTask, ToShard } from '../../../actors/pods/shard/shard-protocol.ts';

/** A worker's end of its port, without the thread. */
interface Bare {
  heard: ToShard[];
  ready: (thread?: number | null) => Promise<void>;
  beat: () => void;
  die: () => Promise<void>;
}

/** Messages between ports of one thread take some turns of the event loop. */
async function delivered(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn();
}

function barePool(
  onReplaced: (shard: number) => void,
  more: Partial<ShardPoolOptions> = {},
): { pool: ShardPool; workers: Bare[] } {
  const workers: Bare[] = [];
  const run = (task: ShardTask, { signal }: { signal: AbortSignal }): Promise<void> =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
      const heard: ToShard[] = [];
      task.port.on('message', (message: ToShard) => {
        heard.push(message);
        if (message.t === 'stop') resolve();
      });
      workers.push({
        heard,
        ready: (thread = null) => (task.port.postMessage({ t: 'ready', thread }), delivered()),
        beat: () => new WorkMarks(task.marks).beat(),
        die: () => (reject(new Error('exited with code: 1')), delivered()),
      });
    });
  const threads = { run, destroy: () => Promise.resolve() } as unknown as Piscina;
  const options = { shards: 1, task: {}, log: pino({ enabled: false }), metrics: createMetrics(), threads, ...more };
  return {
    pool: new ShardPool({ ...options, onMessage: () => undefined, onReplaced } as unknown as ShardPoolOptions),
    workers,
  };
}

const message = (uid: string): ToShard => ({ t: 'pod', uid, message: { type: 'pod.sync', at: 0 } });

test("a worker that takes another's place hears of each pod once, when it is ready", async () => {
  const { pool, workers } = barePool(() => pool.post(0, message('told anew')));
  const started = pool.start();
  pool.post(0, message('first'));
  await workers[0]?.ready();
  await started;
  assert.equal(workers[0]?.heard.length, 1, 'the first worker of all keeps what comes before it is ready');

  await workers[0]?.die();
  assert.equal(workers.length, 2);
  pool.post(0, message('while it loads'));
  await workers[1]?.ready();
  pool.post(0, message('afterwards'));
  await delivered();
  assert.deepEqual(
    workers[1]?.heard.map((m) => (m.t === 'pod' ? m.uid : m.t)),
    ['told anew', 'afterwards'],
  );
  await pool.stop();
});

test('a shard that nobody answers for is lost, however often its worker is replaced, until one does', async () => {
  const { pool, workers } = barePool(() => undefined, { lostMs: 1_500 });
  const started = pool.start();
  await workers[0]?.ready();
  await started;
  // A worker that beats is alive, longer than a shard may be without one.
  const until = performance.now() + 2_500;
  await waitFor('a while', () => (workers[0]?.beat(), performance.now() > until || undefined));
  await waitFor('it is alive', () => (workers[0]?.beat(), pool.unhealthy() === null || undefined));
  await workers[0]?.die();
  assert.equal(workers.length, 2);
  // The new one loads and loads: it beats, and hosts no pod.
  const problem = await waitFor('it is lost', () => {
    workers[1]?.beat();
    return pool.unhealthy() ?? undefined;
  });
  assert.match(problem, /^shard 0 was last seen active \d+s ago; threshold is 1\.5s$/);
  await workers[1]?.ready();
  await waitFor('it is back', () => {
    workers[1]?.beat();
    return pool.unhealthy() === null || undefined;
  });
  await pool.stop();
});

test('a silent worker whose thread gets no processor is borne longer than one that could compute', async () => {
  const starved = barePool(() => undefined);
  const started = starved.pool.start();
  // The thread of this test: it waits, as one does that others leave nothing to.
  await starved.workers[0]?.ready(ownThread());
  await started;
  const hung = barePool(() => undefined);
  const startedToo = hung.pool.start();
  await hung.workers[0]?.ready();
  await startedToo;
  await waitFor('the other is replaced', () => hung.workers.length === 2 || undefined);
  assert.equal(starved.workers.length, 1);
  await Promise.all([hung.pool.stop(), starved.pool.stop()]);
});
