import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { explainFromJournal } from '../../../actors/inspect/explain/explain-from-journal.ts';
import { exportPod } from '../../../actors/record/journal/export-pod.ts';
import { journalBatches, journalFiles } from '../../../actors/record/journal/journal-reader.ts';
import { Replayer, replayBatches } from '../../../actors/record/journal/replay.ts';
import { restoreMemory } from '../../../actors/record/journal/restore-memory.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { bornPod, stepPod } from '../../../machines/pod/pod-step.ts';
import { feed, files, folder, journalingShard, lifeOf } from '../journal/journal-fixture.ts';
import { pod, settings } from '../pod/pod-world.ts';
import { byteChanges, changedBytes } from './support/mutate-bytes.ts';
import { changed, jsonChanges } from './support/mutate-json.ts';
import { fuzz } from './support/runs.ts';

/** Messages after which the pod of the fixture still lives. */
const LIVING = 16;

/** A folder with the journals of two shards, and the text of the first. */
async function journals(t: TestContext): Promise<{ dir: string; first: string; text: string }> {
  const dir = folder(t);
  for (const [shard, uid] of [
    [0, 'u1'],
    [1, 'u2'],
  ] as const) {
    const writer = journalingShard(dir, { shard });
    // Not to its end: what lives on is what is remembered.
    await feed(writer, uid, lifeOf(pod({}, uid)).slice(0, LIVING));
    writer.close();
  }
  const [first] = files(dir);
  assert.ok(first);
  return { dir, first: first.path, text: first.text };
}

/** All that reads journals: errors are ours and name the file; the other shard's pod is always found whole. */
async function readAll(dir: string): Promise<void> {
  const all = await journalFiles([dir]);
  const damages: ActorletError[] = [];
  const onDamage = (damage: ActorletError): void => void damages.push(damage);
  const replayer = new Replayer({ onDamage });
  const result = await replayBatches(journalBatches(all, onDamage), replayer, { onDifference: () => true, onDamage });
  assert.ok(result.messages >= LIVING, `${String(result.messages)} messages: the other file was not read`);
  for (const damage of damages) assert.ok(damage.message.includes(dir), damage.message);
  for (const name of ['u1', 'u2', 'web-node1', '@node']) {
    await ours(explainFromJournal({ pod: name, journals: [dir], now: 2_000_000 }));
    await ours(exportPod(all, name));
  }
  const remembered = restoreMemory(dir);
  assert.ok(remembered.has('u2'), 'the memory of the other pod');
  for (const [uid, { memory }] of remembered) {
    const definition = pod({}, uid);
    const born = bornPod({ pod: definition, source: 'file', settings });
    stepPod(born, {
      type: 'pod.start',
      at: 2_000_000,
      pod: definition,
      source: 'file',
      observed: null,
      memory,
      runtimeReady: true,
      networkReady: true,
    });
  }
}

async function ours(promise: Promise<unknown>): Promise<void> {
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof ActorletError)) throw error;
  }
}

test('journals: whatever the bytes of a segment are, the others are read', async (t) => {
  const { dir, first, text } = await journals(t);
  await fc.assert(
    fc.asyncProperty(byteChanges(['{"r":"', '"n":', '\n{}\n', '[]', 'null\n']), async (changes) => {
      writeFileSync(first, changedBytes(Buffer.from(text), changes));
      await readAll(dir);
    }),
    fuzz(25),
  );
});

test('journals: whatever the bytes of a compressed segment are, the others are read', async (t) => {
  const { dir, first, text } = await journals(t);
  rmSync(first);
  const packed = gzipSync(text);
  await fc.assert(
    fc.asyncProperty(byteChanges([Buffer.from('1f8b08', 'hex')]), async (changes) => {
      writeFileSync(`${first}.gz`, changedBytes(packed, changes));
      await readAll(dir);
    }),
    fuzz(25),
  );
});

test('journals: whatever the fields of a record are', async (t) => {
  const { dir, first, text } = await journals(t);
  const lines = text.trimEnd().split('\n');
  await fc.assert(
    fc.asyncProperty(fc.nat(lines.length - 1), jsonChanges, fc.boolean(), async (at, changes, twice) => {
      const bad = JSON.stringify(changed(JSON.parse(lines[at] ?? ''), changes)) ?? 'null';
      writeFileSync(first, [...lines.slice(0, at + (twice ? 1 : 0)), bad, ...lines.slice(at + 1), ''].join('\n'));
      await readAll(dir);
    }),
    fuzz(40),
  );
});

test('journals: lines of one file spliced into another', async (t) => {
  const { dir, first } = await journals(t);
  const [, second] = files(dir);
  const own = files(dir)[0]?.text.split('\n') ?? [];
  const others = second?.text.split('\n') ?? [];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.boolean(), fc.nat(100)), { maxLength: 40 }), async (picks) => {
      const lines = picks.map(([mine, at]) => (mine ? own : others)[at] ?? '');
      writeFileSync(first, `${lines.join('\n')}\n`);
      await readAll(dir);
    }),
    fuzz(25),
  );
});

test('journals: a segment that unpacks to hundreds of megabytes', async (t) => {
  const { dir, first } = await journals(t);
  rmSync(first);
  // One line without end: it was collected until the memory was used up.
  writeFileSync(`${first}.gz`, gzipSync(Buffer.alloc(300 << 20, 'a'), { level: 1 }));
  const problems: string[] = [];
  const before = process.memoryUsage().rss;
  for await (const batch of journalBatches(await journalFiles([join(dir)]), (error) => problems.push(error.message)))
    assert.ok(batch.lines.length > 0);
  assert.match(problems.join(), /JRN001.*a line of more than 67108864 bytes/);
  assert.ok(restoreMemory(dir).has('u2'));
  assert.ok(process.memoryUsage().rss - before < 600 << 20);
});
