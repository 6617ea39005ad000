import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lifecycle } from '../../../actors/node/lifecycle.ts';
import type { Part, StopPhase } from '../../../actors/node/lifecycle.ts';
import { memoryLog } from '../journal/journal-fixture.ts';

/** Short, so that a stop that hangs is given up at once. */
const LIMIT_MS = 20;
const never = new Promise<void>(() => undefined);

function rig() {
  const { log, lines } = memoryLog();
  const did: string[] = [];
  const part = (name: string, phase: StopPhase = 'work', more: Partial<Part> = {}): Part => ({
    ...{ name, phase },
    start: () => void did.push(`+${name}`),
    stop: () => void did.push(`-${name}`),
    ...more,
  });
  return { life: new Lifecycle(log, LIMIT_MS), lines, did, part };
}

test('parts start in order, those of one step side by side, and stop in phases', async () => {
  const { life, did, part } = rig();
  const both = Promise.withResolvers<undefined>();
  life.add(part('way', 'ways'));
  life.add(
    part('slow', 'work', { start: () => both.promise.then(() => void did.push('+slow')) }),
    part('quick', 'shards', {
      start: () => {
        did.push('+quick');
        both.resolve(undefined);
      },
    }),
  );
  life.add(part('last', 'hearers'));
  await life.start();
  assert.deepEqual(did, ['+way', '+quick', '+slow', '+last']);
  await life.stop();
  assert.deepEqual(did.slice(4), ['-slow', '-quick', '-last', '-way']);
});

test('a start that fails: nothing after it is started, everything is stopped, and its error is thrown', async () => {
  const { life, did, part } = rig();
  const start = () => Promise.reject(new Error('port taken'));
  life.add(part('before', 'ways'));
  life.add(
    part('fails', 'work', { start }),
    part('fails later', 'work', { start: () => new Promise((_, no) => setImmediate(() => no(new Error('second')))) }),
    part('beside'),
  );
  life.add(part('after', 'hearers'));
  await assert.rejects(life.start(), /^Error: port taken$/);
  assert.deepEqual(did, ['+before', '+beside', '-fails', '-fails later', '-beside', '-after', '-before']);
});

test('a start that throws is one that fails', async () => {
  const { life, did, part } = rig();
  const start = () => {
    throw new Error('no such folder');
  };
  life.add(part('throws', 'work', { start }));
  await assert.rejects(life.start(), /no such folder/);
  assert.deepEqual(did, ['-throws']);
});

test('a stop that fails, throws or hangs is told once and keeps no other from being stopped', async () => {
  const { life, did, part, lines } = rig();
  const thrown = () => {
    throw new Error('thrown');
  };
  life.add(part('rejects', 'work', { stop: () => Promise.reject(new Error('rejected')) }));
  life.add(part('throws', 'work', { stop: thrown }));
  life.add(part('hangs', 'shards', { stop: () => never }));
  life.add(part('well', 'ways'));
  await life.start();
  did.length = 0;
  await life.stop();
  assert.deepEqual(did, ['-well']);
  const told = lines.join('');
  for (const words of ['rejects .*rejected', 'throws .*thrown', 'hangs .*has not ended within 0.02 s'])
    assert.match(told, new RegExp(`NOD008: The part ${words}`));
  assert.equal(lines.length, 3);
});

test('the first error is thrown even when stops fail, too', async () => {
  const { life, part } = rig();
  const stop = () => Promise.reject(new Error('stop'));
  life.add(part('a', 'work', { stop }));
  life.add(part('b', 'work', { start: () => Promise.reject(new Error('start')), stop }));
  await assert.rejects(life.start(), /^Error: start$/);
});

test('it stops once, however often it is told to, and starts nothing that comes after', async () => {
  const { life, did, part } = rig();
  const first = Promise.withResolvers<undefined>();
  life.add(part('a', 'work', { start: () => first.promise.then(() => undefined) }));
  life.add(part('b'));
  const starting = life.start();
  const stopping = [life.stop(), life.stop()];
  first.resolve(undefined);
  await Promise.all([starting, ...stopping]);
  assert.deepEqual(did, ['-a', '-b']);
});
