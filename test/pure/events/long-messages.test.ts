import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { EventRecorder } from '../../../actors/cluster/events/event-recorder.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';

const LONGEST = 16 * 1024;
const event = (message: string): RecordedEvent => ({
  object: { apiVersion: 'v1', kind: 'Node', namespace: '', name: 'n', uid: '' },
  ...{ at: 0, type: 'Warning', reason: 'Failed', message },
});

/** What sinks hear of a message. */
function heard(message: string): string | undefined {
  const recorder = new EventRecorder(pino({ level: 'silent' }));
  const told: string[] = [];
  recorder.addSink({ record: (each) => told.push(each.message) });
  recorder.record(event(message));
  return told[0];
}

test('the message of an event is told as far as 16 Ki characters, and no character by half', () => {
  assert.equal(heard('a'.repeat(LONGEST)), 'a'.repeat(LONGEST));
  assert.equal(heard('é'.repeat(1_000_000)), 'é'.repeat(LONGEST));
  assert.equal(heard(`${'a'.repeat(LONGEST - 1)}\u{1F600}b`), 'a'.repeat(LONGEST - 1));
});

test('what is kept of the events of pods is shortened, too', () => {
  const recorder = new EventRecorder(pino({ level: 'silent' }));
  const pod = { uid: 'u', namespace: 'n', name: 'p', at: 0, type: 'Warning', reason: 'Failed' } as const;
  recorder.record({ ...pod, message: 'a'.repeat(1_000_000), fieldPath: '' });
  assert.equal(recorder.recent()[0]?.message.length, LONGEST);
});
