import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ShutdownOrder } from '../../../machines/shutdown/shutdown-context.ts';
import { whyShutdown } from '../../../machines/shutdown/why-shutdown.ts';
import { pod, ShutdownBench, TWO } from './shutdown-bench.ts';

const start = { type: 'shutdown.start' as const, settings: { groups: [...TWO], keepsTimes: true } };
const up = (delayMs = 60_000) => ({ type: 'shutdown.connected', delayMs, preparing: null }) as const;
const ends = (orders: ShutdownOrder[]) =>
  orders.flatMap((order) => (order.type === 'pod.end' ? [[order.uid, order.graceSeconds]] : []));

describe('the way to logind', () => {
  it('takes the lock when logind waits long enough', () => {
    const bench = new ShutdownBench();
    assert.deepEqual(bench.send(start), [{ type: 'logind.connect' }]);
    assert.deepEqual(bench.send(up(30_000)), [{ type: 'lock.take' }]);
    assert.deepEqual(bench.send({ type: 'shutdown.locked' }), []);
    assert.deepEqual([bench.state, bench.context.lock, bench.context.deadline], ['guarding.inhibited', 'held', null]);
  });

  it('does nothing when no time is configured', () => {
    const bench = new ShutdownBench();
    assert.deepEqual(bench.send({ type: 'shutdown.start', settings: { groups: [], keepsTimes: true } }), []);
    assert.equal(bench.state, 'idle');
  });

  it('has logind wait longer when it does not, with time for statuses (kubernetes#110755)', () => {
    const bench = new ShutdownBench();
    bench.send(start);
    assert.deepEqual(bench.send(up(29_999)), [{ type: 'logind.raise', delayMs: 35_000 }]);
    assert.equal(bench.state, 'guarding.raising');
    assert.deepEqual(bench.send({ type: 'shutdown.raised', delayMs: 35_000 }), [{ type: 'lock.take' }]);
    assert.equal(bench.context.link.delayMs, 35_000);
  });

  it('takes the lock though logind does not wait as long as it should: kubelet gives up', () => {
    for (const answer of [
      { type: 'shutdown.raised', delayMs: 5_000 },
      { type: 'shutdown.failed', what: 'raise', error: 'EROFS' },
    ] as const) {
      const bench = new ShutdownBench();
      bench.send(start);
      bench.send(up(5_000));
      assert.deepEqual(bench.types(answer), ['lock.take']);
      bench.send({ type: 'shutdown.locked' });
      assert.equal(bench.state, 'guarding.inhibited');
      assert.equal(bench.lines.length, 2);
    }
  });

  it('tries again what failed, each time after a longer pause, and says each problem once', () => {
    const bench = new ShutdownBench();
    bench.send(start);
    const pauses: number[] = [];
    for (let i = 0; i < 8; i++) {
      assert.deepEqual(bench.send({ type: 'shutdown.failed', what: 'connect', error: 'ENOENT' }), []);
      assert.equal(bench.state, 'guarding.unguarded');
      pauses.push((bench.context.deadline ?? 0) - bench.now);
      assert.deepEqual(bench.due(), [{ type: 'logind.connect' }]);
    }
    assert.deepEqual(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    assert.deepEqual(bench.lines, ['Unable to watch the node for shutdown events']);
    bench.send(up());
    bench.send({ type: 'shutdown.locked' });
    assert.equal(bench.lines.at(-1), 'Shutdown manager holds the inhibitor lock again');
    assert.equal(bench.context.link.failures, 0);
  });

  it('connects anew when the bus is restarted, and takes another lock', () => {
    const bench = ShutdownBench.guarding();
    bench.send({ type: 'shutdown.lost', what: 'connection', why: 'closed' });
    assert.deepEqual([bench.state, bench.context.lock], ['guarding.unguarded', 'held']);
    assert.match(whyShutdown(bench.context), /the connection to logind was lost: closed; it is tried again/);
    assert.deepEqual(bench.due(), [{ type: 'logind.connect' }]);
    assert.deepEqual(bench.send(up()), [{ type: 'lock.take' }]);
    bench.send({ type: 'shutdown.locked' });
    assert.equal(bench.state, 'guarding.inhibited');
  });

  it('takes a lock that was lost again', () => {
    const bench = ShutdownBench.guarding();
    bench.send({ type: 'shutdown.lost', what: 'lock', why: 'killed' });
    assert.deepEqual([bench.state, bench.context.lock], ['guarding.unguarded', 'none']);
    assert.deepEqual(bench.due(), [{ type: 'lock.take' }]);
    bench.send({ type: 'shutdown.failed', what: 'lock', error: 'refused' });
    assert.deepEqual([bench.state, bench.context.lock], ['guarding.unguarded', 'none']);
  });
});

describe('a shutdown', () => {
  it('ends pods group by group, tells their statuses, and then gives the lock back', () => {
    const bench = ShutdownBench.guarding();
    const pods = [pod('web', 0, 5), pod('dns', 2_000_000_000), pod('job', 7, 60)];
    const orders = bench.send({ type: 'shutdown.prepare', pods });
    assert.deepEqual(
      orders.map(({ type }) => type),
      ['status.post', 'node.event', 'times.keep', 'pod.end', 'pod.end'],
    );
    assert.deepEqual(orders[1], { type: 'node.event', message: 'Shutdown manager detected shutdown event' });
    assert.deepEqual(ends(orders), [
      ['web', 5],
      ['job', 20],
    ]);
    assert.equal(bench.state, 'shuttingDown.ending');
    assert.match(
      whyShutdown(bench.context),
      /^pods of priority 0 and above end \(default\/web, default\/job\), within 20 s, until .*; 1 more group after that$/,
    );
    bench.send({ type: 'shutdown.ended', uid: 'web' }, 1_000);
    bench.send({ type: 'shutdown.cleaned', uid: 'job' }, 1_000);
    assert.equal(bench.state, 'shuttingDown.ending', 'volumes of the first are still there (kubernetes#115148)');
    assert.deepEqual(ends(bench.send({ type: 'shutdown.cleaned', uid: 'web' }, 1_000)), [['dns', 10]]);
    const last = bench.send({ type: 'shutdown.cleaned', uid: 'dns' }, 1_000);
    assert.deepEqual(last, [{ type: 'statuses.await', uids: ['web', 'job', 'dns'] }]);
    assert.deepEqual([bench.state, bench.context.lock], ['shuttingDown.telling', 'held']);
    const down = bench.send({ type: 'shutdown.told' }, 500);
    assert.deepEqual(down, [
      { type: 'times.keep', startedAt: bench.now - 4_500, endedAt: bench.now },
      { type: 'lock.release' },
    ]);
    assert.deepEqual([bench.state, bench.context.lock, bench.context.deadline], ['shutDown', 'none', null]);
    assert.equal(
      bench.lines.at(-1),
      'Shutdown manager completed processing shutdown event, node will shutdown shortly',
    );
  });

  it('does not wait for a group without pods, nor longer for a group than it has', () => {
    const bench = ShutdownBench.guarding([
      { priority: 0, seconds: 20 },
      { priority: 10, seconds: 15 },
      { priority: 20, seconds: 10 },
    ]);
    const at = bench.now;
    bench.send({ type: 'shutdown.prepare', pods: [pod('slow', 0), pod('top', 20)] });
    assert.equal(bench.context.deadline, at + 20_000);
    assert.deepEqual(ends(bench.due()), [['top', 10]]);
    assert.equal(bench.now, at + 20_000);
    // The slow one is still told to be late when its time has come: one and a half of its grace period.
    assert.equal(bench.context.deadline, at + 30_000);
    const late = bench.due();
    assert.deepEqual(late[0], { type: 'pod.late', uid: 'slow', namespace: 'default', name: 'slow' });
    assert.equal(bench.state, 'shuttingDown.telling');
    assert.deepEqual(bench.types({ type: 'shutdown.cleaned', uid: 'slow' }), []);
  });

  it('gives up waiting for statuses', () => {
    const bench = ShutdownBench.guarding(TWO, false);
    assert.deepEqual(bench.types({ type: 'shutdown.prepare', pods: [] }), [
      'status.post',
      'node.event',
      'statuses.await',
    ]);
    const at = bench.now;
    assert.deepEqual(bench.due(), [{ type: 'lock.release' }]);
    assert.equal(bench.now - at, 5_000);
    assert.equal(bench.state, 'shutDown');
  });

  it('does not wait for a group of no seconds, but ends its pods', () => {
    const bench = ShutdownBench.guarding([
      { priority: 0, seconds: 10 },
      { priority: 2_000_000_000, seconds: 0 },
    ]);
    const orders = bench.send({ type: 'shutdown.prepare', pods: [pod('critical', 2_000_000_001)] });
    assert.deepEqual(ends(orders), [['critical', 0]]);
    assert.equal(bench.state, 'shuttingDown.telling');
  });

  it('goes on when it is announced twice', () => {
    const bench = ShutdownBench.guarding();
    bench.send({ type: 'shutdown.prepare', pods: [pod('web')] });
    assert.deepEqual(bench.send({ type: 'shutdown.prepare', pods: [pod('web')] }), []);
    bench.send({ type: 'shutdown.cleaned', uid: 'web' });
    bench.send({ type: 'shutdown.told' });
    assert.deepEqual(bench.send({ type: 'shutdown.prepare', pods: [] }), []);
  });

  it('ends pods without the lock, too, and says what that means', () => {
    const bench = new ShutdownBench();
    bench.send(start);
    bench.send(up());
    assert.deepEqual(ends(bench.send({ type: 'shutdown.prepare', pods: [pod('web')] })), [['web', 20]]);
    bench.send({ type: 'shutdown.failed', what: 'lock', error: 'already running' });
    assert.equal(bench.state, 'shuttingDown.ending');
    assert.match(whyShutdown(bench.context), /though the machine does not wait for it \(no inhibitor lock\)/);
  });

  it('asks for no lock any more that it could not get before: logind gives none then', () => {
    const bench = new ShutdownBench();
    bench.send(start);
    bench.send(up());
    bench.send({ type: 'shutdown.failed', what: 'lock', error: 'refused' });
    bench.send({ type: 'shutdown.prepare', pods: [] });
    bench.send({ type: 'shutdown.told' });
    assert.deepEqual([bench.state, bench.context.deadline], ['shutDown', null]);
    assert.deepEqual(bench.types({ type: 'shutdown.cancel' }), ['status.post', 'node.event', 'lock.take']);
  });

  it('is seen by an agent that starts while it is under way (kubernetes#122674)', () => {
    const bench = new ShutdownBench();
    bench.send(start);
    const orders = bench.send({ type: 'shutdown.connected', delayMs: 60_000, preparing: [pod('web')] });
    assert.deepEqual(ends(orders), [['web', 20]]);
    assert.equal(bench.state, 'shuttingDown.ending');
  });

  it('goes on while the bus is away, and learns then whether it was called off', () => {
    for (const [preparing, state] of [
      [[], 'shuttingDown.ending'],
      [null, 'guarding.inhibited'],
    ] as const) {
      const bench = ShutdownBench.guarding();
      bench.send({ type: 'shutdown.prepare', pods: [pod('web')] });
      bench.send({ type: 'shutdown.lost', what: 'connection', why: 'closed' });
      assert.equal(bench.state, 'shuttingDown.ending');
      assert.deepEqual(bench.types({ type: 'shutdown.cancel' }), [], 'nobody can say so');
      assert.deepEqual(bench.due(), [{ type: 'logind.connect' }]);
      bench.send({ type: 'shutdown.failed', what: 'connect', error: 'ENOENT' });
      assert.deepEqual(bench.due(), [{ type: 'logind.connect' }]);
      bench.send({
        type: 'shutdown.connected',
        delayMs: 60_000,
        preparing: preparing === null ? null : [...preparing],
      });
      assert.equal(bench.state, state);
    }
  });
});

describe('a shutdown that is called off', () => {
  it('leaves the pods of later groups, and keeps the lock that it still holds', () => {
    const bench = ShutdownBench.guarding();
    bench.send({ type: 'shutdown.prepare', pods: [pod('web'), pod('dns', 2_000_000_000)] });
    const orders = bench.send({ type: 'shutdown.cancel' }, 1_000);
    assert.deepEqual(
      orders.map(({ type }) => type),
      ['status.post', 'node.event', 'times.keep'],
    );
    assert.deepEqual(orders[1], { type: 'node.event', message: 'Shutdown manager detected shutdown cancellation' });
    assert.deepEqual([bench.state, bench.context.lock, bench.context.deadline], ['guarding.inhibited', 'held', null]);
    assert.deepEqual(bench.send({ type: 'shutdown.cleaned', uid: 'web' }), []);
    assert.deepEqual(ends(bench.send({ type: 'shutdown.prepare', pods: [pod('dns', 2_000_000_000)] })), [['dns', 10]]);
  });

  it('takes the lock again that it had given back', () => {
    const bench = ShutdownBench.guarding();
    bench.send({ type: 'shutdown.prepare', pods: [] });
    bench.send({ type: 'shutdown.told' });
    assert.deepEqual(bench.types({ type: 'shutdown.cancel' }), ['status.post', 'node.event', 'lock.take']);
    bench.send({ type: 'shutdown.locked' });
    assert.equal(bench.state, 'guarding.inhibited');
  });

  it('is nothing when none was under way', () => {
    const bench = ShutdownBench.guarding();
    assert.deepEqual(bench.send({ type: 'shutdown.cancel' }), []);
  });
});
