import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { journalFiles, journalLines } from '../../../actors/record/journal/journal-reader.ts';
import { replay } from '../../../actors/record/journal/replay.ts';
import { startSimNode } from './sim-node.ts';

test('the journals of a whole node, shards and supervisor, replay as identical', async (t) => {
  const sim = await startSimNode(t);
  const manifest = (args: string[]) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace: 'default' },
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image: 'busybox', args }] },
  });
  const rows = () => sim.node.store.rows();
  await sim.put('a', manifest(['one']));
  await sim.until('the pod runs', () => rows()[0]?.state === 'syncing.running');
  const first = rows()[0]?.uid;
  await sim.put('a', manifest(['two']));
  await sim.until('the new pod runs', () => rows().some((r) => r.uid !== first && r.state === 'syncing.running'));
  await sim.remove('a');
  await sim.until('all is gone', () => rows().length === 0);
  await sim.node.stop();
  const names = await readdir(sim.journalDir);
  assert.ok(names.includes('supervisor-00000001.jsonl') && names.includes('shard-00-00000001.jsonl'), names.join());
  const lines = [];
  for await (const line of journalLines(await journalFiles([sim.journalDir]))) lines.push(line);
  const orders = lines.filter(({ text }) => text.startsWith('{"r":"sup.step"')).map(({ text }) => text);
  assert.ok(
    orders.some((text) => text.includes('"type":"start"')) && orders.some((text) => text.includes('"type":"forget"')),
  );
  const result = await replay(journalLines(await journalFiles([sim.journalDir])));
  assert.equal(result.difference, null);
  assert.equal(result.unanswered, 0);
  assert.equal(result.pods, 2);
});
