import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainFromJournal } from '../../../actors/inspect/explain/explain-from-journal.ts';
import { journalFiles, journalLines } from '../../../actors/record/journal/journal-reader.ts';
import { replay } from '../../../actors/record/journal/replay.ts';
import { podsCommand } from '../../../bin/commands/pods.ts';
import type { PodRow } from '../../../actors/pods/store/pod-row.ts';
import { startSimNode } from '../metrics/sim-node.ts';

const manifest = (name: string, image: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image }] },
});
const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;

test('while a pod waits in the queue of pulls, explain and pods say so in the same words: place, what is ahead, since when', async (t) => {
  const node = await startSimNode(t, { images: [{ image: '*', pull: { takes: '1h' } }] });
  const row = async (name: string): Promise<PodRow | undefined> => {
    let out = '';
    const command = podsCommand({ write: (text) => (out += text), now: Date.now }).exitOverride();
    await command.parseAsync(['--server', node.address, '-o', 'json'], { from: 'user' });
    return (JSON.parse(out) as PodRow[]).find((each) => each.name === `${name}-ref`);
  };
  const explain = (pod: string, at?: number) =>
    explainFromJournal({ pod, journals: [node.journalDir], now: Date.now(), ...(at !== undefined && { at }) });
  const says = (name: string, words: RegExp) =>
    node.until(`${name} says ${String(words)}`, async () => words.test((await row(name))?.why ?? ''));

  await node.put('first', manifest('first', 'slow:1'));
  await says('first', /^c: image slow:1 is being pulled$/);
  await node.put('next', manifest('next', 'next:1'));
  await says('next', /^c: image next:1 waits to be pulled since /);
  await node.put('last', manifest('last', 'last:1'));
  await says('last', /^c: image last:1 waits to be pulled since .*place 2/);

  for (const [name, words, now] of [
    [
      'next',
      `c: image next:1 waits to be pulled since ${TIME}, at first in place 1 of the queue: slow:1 was being pulled`,
      1,
    ],
    [
      'last',
      `c: image last:1 waits to be pulled since ${TIME}, at first in place 2 of the queue: slow:1 was being pulled, next:1 came before it`,
      2,
    ],
  ] as const) {
    const { state, causes, summary } = await explain(name);
    const text = causes[0]?.text ?? '';
    assert.equal(state, 'syncing.pullingImage');
    assert.match(text, new RegExp(`^${words}$`));
    assert.ok(summary.includes(text), 'it is the nearest cause');
    assert.equal((await row(name))?.why, `${text}; now in place ${now}`);
  }

  // The queue moves: nobody is told but who begins.
  const waited = Date.now();
  await node.remove('first');
  await says('next', /is being pulled since/);
  const { causes } = await explain('next');
  assert.match(
    causes[0]?.text ?? '',
    new RegExp(`^c: image next:1 is being pulled since ${TIME}, after .* in the queue$`),
  );
  assert.equal((await row('next'))?.why, causes[0]?.text);
  assert.ok((causes[0]?.at ?? 0) >= waited);
  const last = await row('last');
  assert.match(last?.why ?? '', /, at first in place 2 of the queue: .*; now in place 1$/);
  assert.match(
    (await explain('next', waited)).causes[0]?.text ?? '',
    /waits to be pulled since/,
    'after the fact, too',
  );

  await node.node.stop();
  const files = await journalFiles([node.journalDir]);
  const lines: string[] = [];
  for await (const { text } of journalLines(files)) lines.push(text);
  assert.equal(lines.filter((text) => text.includes('"type":"pull.turn"')).length, 3, 'two waits, one begin');
  assert.equal((await replay(journalLines(files))).difference, null);
});
