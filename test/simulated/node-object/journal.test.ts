/** What is written of the node's object and its lease is journaled, replays, and what was changed in it is found. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folder, memoryLog, replayed } from '../../pure/journal/journal-fixture.ts';
import { until } from '../../tools/wait-for.ts';
import { LEASES, makeNodeObject, NO_NETWORK, NODES } from './support/start-node-object.ts';

test('registration, changes, refusals, cordon and heartbeats replay; regular looks and the object are not in the log', async (t) => {
  const dir = folder(t);
  const journal = { dir, agent: 'v', maxBytes: 1 << 20, log: memoryLog().log };
  const config = { nodeStatusUpdateFrequency: '1s', nodeLeaseDurationSeconds: 2 };
  const { server, node, events, runtime, ready, stored } = await makeNodeObject(t, { config, journal });
  const verbs = (verb: string, resource: string) => server.requestsOf({ verb, resource });
  server.put(NODES, { metadata: { name: 'node1', annotations: { note: 'a-secret-of-somebody' } } });
  server.fault({ verb: 'patch', resource: 'nodes' }, { do: 'fail', code: 500 }, 1);
  node.start();
  await node.whenRegistered();
  await until(() => server.openWatches('nodes') === 1, 'a watch');
  await until(() => verbs('update', 'leases').length >= 2, 'renewals, and some regular looks');
  server.fault({ verb: 'patch', resource: 'nodes' }, { do: 'fail', code: 409, reason: 'Conflict' }, 1);
  runtime.look = NO_NETWORK;
  node.changed();
  await until(() => ready() === 'False', 'not ready');
  server.put(NODES, { ...stored(), spec: { unschedulable: true } });
  await until(() => events.some((e) => e.reason === 'NodeNotSchedulable'), 'cordoned');
  const before = server.get(LEASES, 'node1');
  server.put(LEASES, { ...before, metadata: { ...before?.metadata, labels: { theirs: '1' } } });
  await until(() => verbs('update', 'leases').some(({ code }) => code === 409), 'a conflict');
  const renewals = verbs('update', 'leases').length;
  await until(() => verbs('update', 'leases').length > renewals, 'a renewal after it');
  await node.stop();

  const path = join(dir, 'node-object', 'node-object-00000001.jsonl');
  const text = readFileSync(path, 'utf8');
  assert.ok(!text.includes('a-secret-of-somebody'), "the object's content is not in it");
  const types = [...text.matchAll(/"m":\{"type":"([\w.]+)"/g)].map(([, type]) => type);
  assert.deepEqual(types.slice(0, 8), [
    ...['object.start', 'register.posted', 'register.found', 'register.failed', 'register.due', 'register.posted'],
    ...['register.found', 'register.patched'],
  ]);
  for (const type of ['sync.due', 'sync.failed', 'sync.reread', 'sync.patched', 'object.seen', 'csi.ended'])
    assert.ok(types.includes(type), type);
  const quiet = text
    .split('\n')
    .filter((line) => line.includes('"type":"sync.due"') && line.includes('"changed":false'));
  assert.ok(quiet.length <= 3, `regular looks that find nothing: ${quiet.length}`);
  assert.ok(
    text.split('\n').every((line) => line.length < 700),
    'lines are short',
  );
  const whole = await replayed(dir);
  assert.deepEqual([whole.difference, whole.machines], [null, ['node-object', 'lease']]);

  const changed = async (file: string, from: string, to: string) => {
    const was = readFileSync(file, 'utf8');
    assert.ok(was.includes(from), from);
    writeFileSync(file, was.replace(from, to));
    const { difference } = await replayed(dir);
    writeFileSync(file, was);
    return [difference?.pod, difference?.what];
  };
  assert.deepEqual(await changed(path, '"came":"exists"', '"came":"failed"'), ['node-object', 'order 1 of 1']);
  assert.deepEqual(await changed(path, '"status":409', '"status":500'), ['node-object', 'state']);
  assert.deepEqual(await changed(path, '{"type":"sync.reread"}', '{"type":"sync.complain","ms":1}'), [
    ...['node-object', 'order 1 of 1'],
  ]);
  const leases = join(dir, 'lease', 'lease-00000001.jsonl');
  assert.deepEqual(await changed(leases, '"came":"conflict"', '"came":"ok"'), ['lease', 'state']);
  assert.deepEqual(await changed(leases, '{"type":"lease.get"}', '{"type":"lease.post"}'), ['lease', 'order 1 of 1']);
});
