/** The node's log: it replays, an inspector and `explain` read it, and readers of older journals do not meet it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { explainFromJournal } from '../../../actors/inspect/explain/explain-from-journal.ts';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { NodeState } from '../../../actors/node/node-state.ts';
import type { NodeFacts } from '../../../actors/node/node-state.ts';
import { journalsCompressed } from '../../../actors/record/journal/segment-log.ts';
import type { NodeOrder } from '../../../machines/node/node-context.ts';
import { runtimeHealthOf } from '../../../machines/node-object/ready-message.ts';
import { inspecting, podNamed, startOf } from '../inspector/made-journal.ts';
import { feed, folder, journalingShard, memoryLog, replayed } from './journal-fixture.ts';

const well = runtimeHealthOf({
  state: 'answered',
  conditions: ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: true, reason: '', message: '' })),
});
const silent = runtimeHealthOf({ state: 'silent' });

/** A node whose runtime comes, goes and comes back. */
function nodeIn(dir: string, maxBytes = 1 << 20) {
  const { log } = memoryLog();
  const orders: NodeOrder[] = [];
  const facts: NodeFacts = { runtime: silent, plegError: null, sourcesReady: false, registered: false };
  const clock = { at: 1_000 };
  const node = new NodeState({
    ...{ nodeName: 'n1', agent: 'v', cluster: false, log, clock: { ...machineClock, now: () => clock.at } },
    ...{ facts: () => facts, carryOut: (order: NodeOrder) => void orders.push(order) },
    journal: { dir, agent: 'v', maxBytes, log },
  });
  const at = (time: number, change: Partial<NodeFacts>) => {
    clock.at = time;
    Object.assign(facts, change);
    node.look();
  };
  return { node, at, orders, clock };
}

test('each change is journaled once, before it is handled; the log replays, and a changed outcome is found', async (t) => {
  const dir = folder(t);
  const { node, at, orders } = nodeIn(dir);
  at(2_000, {});
  assert.equal(node.state, 'notReady.runtimeDown');
  at(3_000, {});
  at(4_000, { runtime: well, sourcesReady: true });
  at(9_000, { plegError: 'pleg was last seen active 181s ago' });
  at(10_000, { plegError: 'pleg was last seen active 182s ago' });
  assert.deepEqual(node.context.reasons, ['PLEG is not healthy: pleg was last seen active 181s ago']);
  node.stop();
  assert.deepEqual(
    orders.map(({ type }) => type),
    ['status.post', 'pods.tellRuntime', 'pods.observe', 'status.post'],
  );
  const path = join(dir, 'node', 'node-00000001.jsonl');
  const text = readFileSync(path, 'utf8');
  const messages = text.split('\n').filter((line) => line.startsWith('{"r":"node.msg"'));
  assert.equal(messages.length, 7, 'start, two of the runtime, two of PLEG, sources, stop');
  const result = await replayed(dir);
  assert.deepEqual([result.difference, result.messages, result.unanswered], [null, 7, 0]);
  assert.deepEqual(readdirSync(dir), ['node'], 'where older readers look there is nothing');

  writeFileSync(path, text.replace('"s":"notReady.runtimeDown"', '"s":"ready.running"'));
  const { difference } = await replayed(dir);
  assert.deepEqual(
    [difference?.pod, difference?.recorded, difference?.computed],
    ['node', 'ready.running', 'notReady.runtimeDown'],
  );
});

test('an agent that begins anew goes on with the log; full segments are replaced, each can be read alone', async (t) => {
  const dir = folder(t);
  const first = nodeIn(dir, 4_096);
  for (let i = 0; i < 200; i++) first.at(2_000 + i, { runtime: i % 2 === 0 ? well : silent });
  const second = nodeIn(dir, 4_096);
  second.at(5_000, { runtime: well });
  second.node.stop();
  await journalsCompressed();
  const result = await replayed(dir);
  assert.equal(result.difference, null);
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  const line = inspector.node();
  assert.deepEqual([line?.name, line?.state, line?.phase], ['n1', 'shuttingDown', 'NotReady']);
  const page = inspector.steps('@node', 0, 2_000);
  assert.equal(page?.steps.at(-1)?.message, 'node.stop');
  assert.equal((await inspector.step('@node', (page?.total ?? 0) - 1))?.machines.pod, 'shuttingDown');
});

test('an inspector shows each moment, and a pod that waits for the runtime is told why the node is not ready', async (t) => {
  const dir = folder(t);
  // A segment has the time of the clock, and what is later than the asked moment is left out: all of them begin before that.
  const began = Date.now() + 600_000;
  const { node, at } = nodeIn(dir);
  at(began, {});
  const shard = journalingShard(dir);
  await feed(shard, 'web', [{ ...startOf(podNamed('web'), began + 1_000), runtimeReady: false } as never]);
  shard.close();
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  assert.deepEqual(
    inspector.pods().map(({ uid }) => uid),
    ['web'],
    'the node is no pod',
  );
  assert.equal(inspector.node()?.why, 'container runtime is down');
  const detail = await inspector.step('@node', 1);
  assert.deepEqual(
    [detail?.line.message, detail?.line.summary, detail?.line.from],
    ['runtime.state', 'container runtime is down', 'cri'],
  );
  assert.deepEqual(detail?.spec, { nodeName: 'n1', agent: 'v', cluster: false });

  const explained = await explainFromJournal({
    pod: 'default/web',
    journals: [dir],
    now: began + 2_000,
    at: began + 2_000,
  });
  assert.equal(explained.state, 'syncing.waitingForRuntime');
  assert.ok(
    explained.causes.some(
      (c) => c.kind === 'node' && /notReady\.runtimeDown\): container runtime is down$/.test(c.text),
    ),
    JSON.stringify(explained.causes),
  );
  const itself = await explainFromJournal({ pod: '@node', journals: [dir], now: began + 2_000, at: began + 2_000 });
  assert.match(itself.summary, /^the node n1 is in notReady\.runtimeDown since 2 s: .*\(container runtime is down\)$/);
  node.stop();
});

test('without its log there is no node', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir);
  await feed(shard, 'web', [startOf(podNamed('web'))]);
  shard.close();
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  assert.equal(inspector.node(), null);
  assert.equal(inspector.steps('@node', 0, 10), null);
  await assert.rejects(explainFromJournal({ pod: '@node', journals: [dir], now: 1 }), /EXP001/);
});
