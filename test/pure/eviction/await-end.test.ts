import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EvictionBench, hard, makePod, memory, names, soft, use } from './eviction-bench.ts';

describe('the wait for the end of a pod', () => {
  const waiting = (grace?: number) => {
    const bench = new EvictionBench(
      [grace === undefined ? hard('memory.available', '1Gi') : soft('memory.available', '1Gi', 1)],
      { maxPodGraceSeconds: 60 },
    );
    bench.endsAtOnce = false;
    bench.pods = [{ pod: makePod('p', { ...(grace !== undefined && { grace }) }), figures: use({ memory: '2Gi' }) }];
    bench.look(memory('500Mi'));
    if (grace !== undefined) bench.look(memory('500Mi'));
    return bench;
  };
  const told = (bench: EvictionBench) =>
    bench.orders.flatMap((order) => (order.type === 'pod.event' ? [`${order.reason}: ${order.message}`] : []));

  it('ends when nothing is left of it', () => {
    const bench = waiting();
    assert.equal(bench.state, 'ending.killing');
    bench.take({ type: 'eviction.killed', at: bench.now, uid: 'uid-p' });
    assert.equal(bench.state, 'ending.cleaning');
    bench.take({ type: 'eviction.cleaned', at: bench.now + 1, uid: 'uid-p' });
    assert.equal(bench.state, 'watching.pressed');
    assert.deepEqual(told(bench), []);
  });

  it('looks are not taken meanwhile: one pod at a time', () => {
    const bench = waiting();
    assert.deepEqual(bench.look(memory('1Mi')), []);
    assert.equal(bench.state, 'ending.killing');
  });

  it('says so when its containers have not ended after ten seconds, and gives it up thirty later', () => {
    const bench = waiting();
    bench.take({ type: 'timer', at: bench.now + 9_999 });
    assert.deepEqual(told(bench), []);
    bench.take({ type: 'timer', at: bench.now + 10_000 });
    assert.deepEqual(told(bench), [
      'ExceededGracePeriod: Container runtime did not kill the pod within specified grace period.',
    ]);
    assert.equal(bench.state, 'ending.cleaning');
    bench.take({ type: 'timer', at: bench.now + 39_999 });
    assert.equal(bench.state, 'ending.cleaning');
    bench.take({ type: 'timer', at: bench.now + 40_000 });
    assert.equal(bench.state, 'watching.pressed');
  });

  it('is half as long again as a grace period that is long', () => {
    const bench = waiting(20);
    assert.equal(bench.context.deadline, bench.now + 30_000);
  });
});

describe('a pod that was evicted and still ends', () => {
  const endsLate = (settings: { evictsOnce?: boolean } = { evictsOnce: true }) => {
    const bench = new EvictionBench([hard('memory.available', '1Gi')], settings);
    bench.endsAtOnce = false;
    const figures = use({ memory: '1Gi' });
    bench.pods = [
      { pod: makePod('first', { priority: -1 }), figures },
      { pod: makePod('second'), figures },
    ];
    return bench;
  };
  /** Nothing is heard of its end until nobody waits for it any more. */
  const waitInVain = (bench: EvictionBench) => {
    bench.now += 10_000;
    bench.take({ type: 'timer', at: bench.now });
    bench.now += 30_000;
    bench.take({ type: 'timer', at: bench.now });
    assert.equal(bench.state, 'watching.pressed');
  };

  it('is not evicted again, but waited for once more; then it holds up nobody', () => {
    const bench = endsLate();
    assert.deepEqual(names(bench.look(memory('500Mi', 1))), ['first']);
    waitInVain(bench);
    assert.deepEqual(names(bench.look(memory('500Mi', 2))), []);
    assert.deepEqual(
      bench.context.victims.map(({ uid, killed }) => ({ uid, killed })),
      [{ uid: 'uid-first', killed: false }],
    );
    waitInVain(bench);
    assert.deepEqual(names(bench.look(memory('500Mi', 3))), ['second']);
  });

  it('is forgotten when it has gone while nobody waited for it, and when it goes in the end', () => {
    const alone = endsLate();
    alone.look(memory('500Mi', 1));
    waitInVain(alone);
    alone.pods.shift();
    assert.deepEqual(names(alone.look(memory('500Mi', 2))), ['second']);
    assert.deepEqual(alone.context.going, {});

    const watched = endsLate();
    watched.look(memory('500Mi', 1));
    waitInVain(watched);
    watched.look(memory('500Mi', 2));
    watched.take({ type: 'eviction.cleaned', at: watched.now, uid: 'uid-first' });
    assert.deepEqual([watched.state, watched.context.going], ['watching.pressed', {}]);
  });

  it('breaks no limit of its own a second time', () => {
    const bench = new EvictionBench([], { evictsOnce: true });
    bench.endsAtOnce = false;
    const limits = { 'ephemeral-storage': '1Mi' };
    bench.pods = [{ pod: makePod('full', { limits }), figures: use({ root: '2Mi' }) }];
    assert.deepEqual(names(bench.look({})), ['full']);
    bench.now += 10_000;
    bench.take({ type: 'timer', at: bench.now });
    bench.now += 30_000;
    bench.take({ type: 'timer', at: bench.now });
    assert.deepEqual(names(bench.look({})), []);
    assert.equal(bench.state, 'watching.calm');
  });

  it('was evicted again each time in records of before, which replay so', () => {
    const bench = endsLate({});
    for (const at of [1, 2, 3]) {
      assert.deepEqual(names(bench.look(memory('500Mi', at))), ['first']);
      waitInVain(bench);
    }
  });
});
