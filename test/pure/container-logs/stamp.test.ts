import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isBefore, readStamp, writeStamp } from '../../../actors/serve/container-logs/stamp.ts';

function read(text: string): { seconds: number; nanos: number } | undefined {
  const stamp = { seconds: 0, nanos: 0 };
  const bytes = Buffer.from(`..${text}..`);
  return readStamp(bytes, 2, bytes.length - 2, stamp) ? stamp : undefined;
}

function written(text: string): string {
  const bytes = Buffer.from(text);
  const out = Buffer.alloc(64);
  return out.toString('latin1', 5, writeStamp(bytes, 0, bytes.length, out, 5));
}

test('a time of any day is the number of seconds that Date says', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
      const ms = date.getTime();
      const seconds = Math.floor(ms / 1000);
      assert.deepEqual(read(date.toISOString()), { seconds, nanos: (ms - seconds * 1000) * 1e6 });
    }),
  );
});

test('fractions and zones', () => {
  assert.deepEqual(read('1970-01-01T00:00:00Z'), { seconds: 0, nanos: 0 });
  assert.deepEqual(read('1970-01-01T02:30:00.000000001+02:30'), { seconds: 0, nanos: 1 });
  assert.deepEqual(read('1969-12-31T23:00:00,1234567899-01:00'), { seconds: 0, nanos: 123456789 });
  for (const bad of [
    '',
    '1970-01-01T00:00:00',
    '1970-01-01T00:00:00.Z',
    '1970-01-01 00:00:00Z',
    '1970-13-01T00:00:00Z',
    '1970-00-01T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '1970-01-01T24:00:00Z',
    '1970-01-01T00:60:00Z',
    '1970-01-01T00:00:61Z',
    '1970-01-01T00:00:00ZZ',
    '1970-01-01T00:00:00+0100',
    '197x-01-01T00:00:00Z',
  ])
    assert.equal(read(bad), undefined, bad);
});

test('a time is written with nine digits, in its own zone', () => {
  assert.equal(written('2016-10-06T00:17:09Z'), '2016-10-06T00:17:09.000000000Z');
  assert.equal(written('2016-10-06T00:17:09.66-07:00'), '2016-10-06T00:17:09.660000000-07:00');
  assert.equal(written('2016-10-06T00:17:09.6697942029+00:00'), '2016-10-06T00:17:09.669794202Z');
});

test('order', () => {
  assert.equal(isBefore({ seconds: 1, nanos: 9 }, { seconds: 2, nanos: 0 }), true);
  assert.equal(isBefore({ seconds: 2, nanos: 0 }, { seconds: 2, nanos: 1 }), true);
  assert.equal(isBefore({ seconds: 2, nanos: 1 }, { seconds: 2, nanos: 1 }), false);
});
