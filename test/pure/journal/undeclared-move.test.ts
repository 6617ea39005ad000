/** A pod whose code names a state that it must not go to: its step fails, is journaled, and the pod goes on. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const planted = { on: false };
Object.assign(globalThis, { planted });
const right = "{ state: 'terminated.removing', why: '' }";
const wrong = "{ state: globalThis.planted.on ? 'syncing.running' : 'terminated.removing', why: '' }";
registerHooks({
  load: (url, context, next) => {
    if (!url.endsWith('/machines/pod/clean-up.ts')) return next(url, context);
    const source = readFileSync(fileURLToPath(url), 'utf8');
    assert.equal(source.split(right).length, 2, 'the planned move is not in its file any more');
    return { format: 'module-typescript', source: source.replace(right, wrong), shortCircuit: true };
  },
});
const { pod } = await import('../pod/pod-world.ts');
const { feed, folder, journalingShard, lifeOf, records } = await import('./journal-fixture.ts');

test('a move that is not declared is a fault with the name of the pod and both states; the message changes nothing', async (t) => {
  const dir = folder(t);
  const life = lifeOf(pod({}, 'u1'));
  const told: string[] = [];
  const shard = journalingShard(dir, { send: (message) => told.push(message.t) });
  const faults = () => records(dir).filter((r) => r['r'] === 'fault');
  planted.on = true;
  let at = 0;
  for (; at < life.length && !told.includes('fault'); at++) await feed(shard, 'u1', life.slice(at, at + 1));
  planted.on = false;
  const [fault] = faults();
  assert.equal(fault?.['uid'], 'u1');
  assert.match(
    String(fault['error']),
    /NOD009: The machine of pod default\/web-node1 was to go from terminated\.cleaningUp to syncing\.running/,
  );
  const states = () => records(dir).flatMap((r) => (r['r'] === 'step' ? [r['s']] : []));
  assert.equal(states().at(-1), 'terminated.cleaningUp');
  // The same message again, by code that is right, and all that came after it.
  await feed(shard, 'u1', life.slice(at - 1));
  assert.equal(faults().length, 1);
  assert.equal(states().at(-1), 'terminated.finished');
  assert.ok(told.includes('finished'));
  shard.close();
});
