import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';
import { EventCorrelator } from '../../../machines/events/event-correlator.ts';
import type { Correlated } from '../../../machines/events/event-correlator.ts';
import { Lru } from '../../../machines/events/lru.ts';

const T0 = Date.parse('2026-01-02T03:04:05.678Z');

function happening(changes: Partial<RecordedEvent> & { name?: string } = {}): RecordedEvent {
  const { name = 'web', ...rest } = changes;
  return {
    object: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name, uid: `uid-${name}`, fieldPath: 'spec' },
    at: T0,
    type: 'Warning',
    reason: 'BackOff',
    message: 'Back-off restarting',
    ...rest,
  };
}

/** What was sent must be an event that was to be made. */
function created(correlated: Correlated) {
  assert.equal(correlated.send, 'create');
  return correlated.event;
}

function patched(correlated: Correlated) {
  assert.equal(correlated.send, 'patch');
  return correlated;
}

describe('EventCorrelator', () => {
  test('the first event is created with the fields that kubelet fills', () => {
    const event = created(new EventCorrelator('node-1').correlate(happening({ annotations: { a: 'b' } }), T0));
    assert.deepEqual(event, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: `web.${(BigInt(T0) * 1_000_000n).toString(16)}`,
        namespace: 'shop',
        annotations: { a: 'b' },
      },
      involvedObject: happening().object,
      reason: 'BackOff',
      message: 'Back-off restarting',
      source: { component: 'kubelet', host: 'node-1' },
      firstTimestamp: '2026-01-02T03:04:05Z',
      lastTimestamp: '2026-01-02T03:04:05Z',
      count: 1,
      type: 'Warning',
      reportingComponent: 'kubelet',
      reportingInstance: 'node-1',
    });
  });

  test("a node's events are kept in namespace default", () => {
    const object = { apiVersion: 'v1', kind: 'Node', namespace: '', name: 'node-1', uid: 'node-1' } as const;
    const event = created(new EventCorrelator('node-1').correlate(happening({ object }), T0));
    assert.equal(event.metadata.namespace, 'default');
    assert.equal(event.involvedObject.namespace, '');
  });

  test('the same again is counted in the first event by a patch of three fields', () => {
    const correlator = new EventCorrelator('node-1');
    const first = created(correlator.correlate(happening(), T0));
    const second = patched(correlator.correlate(happening({ at: T0 + 5_000 }), T0 + 5_000));
    assert.deepEqual(second.patch, {
      count: 2,
      lastTimestamp: '2026-01-02T03:04:10Z',
      message: 'Back-off restarting',
    });
    assert.equal(second.event.metadata.name, first.metadata.name);
    assert.equal(second.event.firstTimestamp, first.firstTimestamp);
    assert.equal(second.event.count, 2);
    assert.equal(patched(correlator.correlate(happening(), T0 + 6_000)).patch.count, 3);
  });

  test('another field path, message, reason, type or object is another event', () => {
    const correlator = new EventCorrelator('node-1');
    const same = happening();
    const others = [
      same,
      happening({ object: { ...same.object, fieldPath: 'spec.containers{b}' } }),
      happening({ message: 'other' }),
      happening({ reason: 'Failed' }),
      happening({ type: 'Normal' }),
      happening({ object: { ...same.object, uid: 'another' } }),
      happening({ name: 'web2' }),
    ];
    const names = others.map((each) => created(correlator.correlate(each, T0)).metadata.name);
    assert.equal(new Set(names).size, names.length, 'events of one millisecond have names of their own');
  });

  test('from the tenth message within ten minutes on, similar events are combined', () => {
    const correlator = new EventCorrelator('node-1');
    for (let i = 1; i <= 9; i++) created(correlator.correlate(happening({ message: `m${i}` }), T0 + i));
    const at = T0 + 60_000;
    const tenth = created(correlator.correlate(happening({ message: 'm10', annotations: { a: 'b' } }), at));
    assert.equal(tenth.message, '(combined from similar events): m10');
    assert.equal(tenth.firstTimestamp, '2026-01-02T03:05:05Z');
    assert.equal(tenth.count, 1);
    assert.equal(tenth.metadata.annotations, undefined);
    assert.equal(tenth.reportingComponent, '');
    assert.deepEqual(tenth.source, { component: 'kubelet', host: 'node-1' });
    const eleventh = patched(correlator.correlate(happening({ message: 'm11' }), at + 1_000));
    assert.deepEqual(eleventh.patch, {
      count: 2,
      lastTimestamp: '2026-01-02T03:05:06Z',
      message: '(combined from similar events): m11',
    });
    assert.equal(eleventh.event.metadata.name, tenth.metadata.name);
    const again = patched(correlator.correlate(happening({ message: 'm1' }), at + 2_000));
    assert.equal(again.patch.message, 'm1', 'what has an event of its own is counted there');
  });

  test('after ten quiet minutes similar events are told one by one again', () => {
    const correlator = new EventCorrelator('node-1');
    for (let i = 1; i <= 12; i++) correlator.correlate(happening({ message: `m${i}` }), T0);
    const stillCombined = patched(correlator.correlate(happening({ message: 'a' }), T0 + 600_000));
    assert.match(stillCombined.patch.message ?? '', /^\(combined/);
    const fresh = created(correlator.correlate(happening({ message: 'b' }), T0 + 600_000 + 600_001));
    assert.equal(fresh.message, 'b');
  });

  test('an object has 25 events of a type at once, then one each five minutes, and what is held back counts', () => {
    const correlator = new EventCorrelator('node-1');
    for (let i = 0; i < 25; i++) assert.notEqual(correlator.correlate(happening(), T0).send, 'nothing');
    assert.equal(correlator.correlate(happening(), T0).send, 'nothing');
    assert.equal(correlator.correlate(happening({ reason: 'Other' }), T0).send, 'nothing', 'all reasons share it');
    assert.equal(correlator.correlate(happening({ type: 'Normal' }), T0).send, 'create', 'types do not');
    assert.equal(correlator.correlate(happening({ name: 'b' }), T0).send, 'create', 'objects do not');
    assert.equal(correlator.correlate(happening(), T0 + 299_000).send, 'nothing');
    assert.equal(patched(correlator.correlate(happening(), T0 + 301_000)).patch.count, 28);
    assert.equal(correlator.correlate(happening(), T0 + 302_000).send, 'nothing');
  });

  test('a clock that goes back neither gives tokens nor makes two equal names', () => {
    const correlator = new EventCorrelator('node-1');
    const first = created(correlator.correlate(happening({ message: 'a' }), T0));
    const second = created(correlator.correlate(happening({ message: 'b', at: T0 - 10_000 }), T0 - 10_000));
    assert.notEqual(first.metadata.name, second.metadata.name);
    for (let i = 0; i < 23; i++) correlator.correlate(happening(), T0 - 10_000);
    assert.equal(correlator.correlate(happening(), T0 - 10_000).send, 'nothing');
  });

  test('a name that would be too long is made of the uid', () => {
    const name = 'a'.repeat(250);
    const object = { ...happening().object, name, uid: '0f2c' };
    const other = created(new EventCorrelator('node-1').correlate(happening({ object }), T0));
    assert.match(other.metadata.name, /^0f2c\.[0-9a-f]+$/);
  });

  test('what was sent longest ago is forgotten, and then made anew', () => {
    const correlator = new EventCorrelator('node-1', 2);
    created(correlator.correlate(happening({ name: 'a' }), T0));
    created(correlator.correlate(happening({ name: 'b' }), T0));
    patched(correlator.correlate(happening({ name: 'a' }), T0));
    created(correlator.correlate(happening({ name: 'c' }), T0));
    patched(correlator.correlate(happening({ name: 'a' }), T0));
    created(correlator.correlate(happening({ name: 'b' }), T0));
  });

  test('names are unique, counts grow by one and patches name a created event', () => {
    const step = fc.record({
      name: fc.constantFrom('a', 'b'),
      message: fc.integer({ min: 0, max: 14 }).map((n) => `m${n}`),
      wait: fc.integer({ min: 0, max: 700_000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const correlator = new EventCorrelator('node-1');
        const seen = new Set<string>();
        let at = T0;
        for (const { name, message, wait } of steps) {
          at += wait;
          const correlated = correlator.correlate(happening({ name, message, at }), at);
          if (correlated.send === 'create') {
            assert.ok(!seen.has(correlated.event.metadata.name));
            seen.add(correlated.event.metadata.name);
          } else if (correlated.send === 'patch') {
            assert.ok(correlated.patch.count > 1);
            assert.equal(correlated.patch.count, correlated.event.count);
          }
        }
      }),
    );
  });
});

test('Lru drops the entry that was used longest ago', () => {
  const lru = new Lru<number>(2);
  lru.set('a', 1);
  lru.set('b', 2);
  assert.equal(lru.get('a'), 1);
  lru.set('c', 3);
  assert.equal(lru.get('b'), undefined);
  assert.equal(lru.get('a'), 1);
  assert.equal(lru.get('c'), 3);
  assert.equal(lru.count, 2);
});
