/** A replay in several threads says what one in one thread says: whole journals, damaged ones, and ones with lies in them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Difference } from '../../../actors/record/journal/difference.ts';
import { journalBatches, journalFiles } from '../../../actors/record/journal/journal-reader.ts';
import type { ParallelResult } from '../../../actors/record/journal/parallel-replay.ts';
import { parallelReplay, threadsFor } from '../../../actors/record/journal/parallel-replay.ts';
import { messageText, stepText } from '../../../actors/record/journal/records.ts';
import { partOfLine, partOfPod } from '../../../actors/record/journal/replay-part.ts';
import { Replayer, replayBatches } from '../../../actors/record/journal/replay.ts';
import { pods } from '../../../actors/record/machines/pods.ts';
import { pod } from '../pod/pod-world.ts';
import { feed, files, folder, journalingShard, lifeOf } from './journal-fixture.ts';

const RELEASES = join(import.meta.dirname, 'releases');
const PODS = ['u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'u\\"7'];

/** Two shards' journals, the second one in two segments. */
async function journals(t: TestContext): Promise<string> {
  const dir = folder(t);
  for (const [shard, uids] of [
    [0, PODS.slice(0, 3)],
    [1, PODS.slice(3, 5)],
    [1, PODS.slice(5)],
  ] as const) {
    const one = journalingShard(dir, { shard });
    for (const uid of uids) await feed(one, uid, lifeOf(pod({}, uid)));
    one.close();
  }
  return dir;
}

async function serially(paths: string[]): Promise<ParallelResult> {
  const differences = new Map<string, Difference>();
  const damages: string[] = [];
  const onDamage = ({ message }: Error) => void damages.push(message);
  const onDifference = (difference: Difference) => {
    if (!differences.has(difference.uid)) differences.set(difference.uid, difference);
    return true;
  };
  const kinds = new Set<string>();
  const replayer = new Replayer({ onDamage, onUnknownKind: (kind) => void kinds.add(kind) });
  const batches = journalBatches(await journalFiles(paths), onDamage);
  const result = await replayBatches(batches, replayer, { onDifference, onDamage });
  const { difference: _first, ...counts } = result;
  const found = { differences: [...differences.values()], damages, unknownKinds: [...kinds].sort() };
  return { ...counts, ...found };
}

const inThreads = async (paths: string[], goOn = true, threads = 3) =>
  parallelReplay(await journalFiles(paths), { threads, goOn });

/** What the command says, with and without threads; only the time differs. */
function commands(...args: string[]): [one: unknown, several: unknown] {
  const main = join(import.meta.dirname, '../../../bin/actorlet.ts');
  const [one, several] = ['1', '2'].map((threads) => {
    const all = [main, 'replay', '--threads', threads, ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, all, { encoding: 'utf8' });
    return { status, stdout, stderr: stderr.replace(/ in [\d.]+ s \(\d+\/s\)$/m, '') };
  });
  return [one, several];
}

function change(dir: string, name: string, edit: (text: string) => string): void {
  const file = files(dir).find((f) => f.name.startsWith(name));
  assert.ok(file);
  const changed = edit(file.text);
  assert.notEqual(changed, file.text);
  writeFileSync(file.path, changed);
}

const LIE = ['"type":"cri.StopContainer","key"', '"type":"cri.StartContainer","key"'] as const;

for (const version of readdirSync(RELEASES)) {
  test(`journals of actorlet ${version}`, async (t) => {
    const paths = [join(RELEASES, version)];
    const expected = await serially(paths);
    assert.ok(expected.messages > 3_000 && expected.differences.length === 0 && expected.pods > 60);
    assert.deepEqual(await inThreads(paths, false), expected);
    // A lie in the middle of each kind of log.
    const dir = folder(t);
    for (const name of readdirSync(join(RELEASES, version)))
      copyFileSync(join(RELEASES, version, name), join(dir, name));
    for (const file of files(dir)) {
      if (file.name.startsWith('chaos')) continue;
      const lines = file.text.split('\n');
      const steps = lines.flatMap((line, i) => (/^\{"r":"(sup\.)?step"/.test(line) ? [i] : []));
      for (const i of [0.3, 0.6, 0.61, 0.9].map((part) => steps[Math.floor(part * steps.length)] ?? 0))
        lines[i] = lines[i]?.replace(/"s":"[^"]*"/, '"s":"syncing.elsewhere"') ?? '';
      writeFileSync(file.path, gzipSync(lines.join('\n')));
    }
    const different = await serially([dir]);
    assert.ok(different.differences.length > 4, `${different.differences.length}`);
    assert.ok(different.differences.some(({ uid }) => uid === ''));
    assert.deepEqual(await inThreads([dir]), different);
    assert.equal(await inThreads([dir], false), null);
    const [one, several] = commands('--all-differences', '--json', dir);
    assert.deepEqual(several, one);
    assert.match((several as { stderr: string }).stderr, /^replayed: pods, supervisor$/m);
  });
}

test('a cut last line', async (t) => {
  const dir = await journals(t);
  change(dir, 'shard-00', (text) => text.trimEnd().slice(0, -7));
  change(dir, 'shard-01-00000002', (text) => text.trimEnd().slice(0, text.trimEnd().lastIndexOf('\n') + 9));
  const expected = await serially([dir]);
  assert.equal(expected.damages.length, 2);
  assert.ok(expected.unanswered > 0);
  assert.deepEqual(await inThreads([dir], false), expected);
  const [one, several] = commands(dir);
  assert.deepEqual(several, one);
  assert.equal((several as { status: number }).status, 3);
});

test('kinds of records that a later version has added are left out, and named once', async (t) => {
  const dir = await journals(t);
  const added = ['{"r":"weather","at":1}', '{"r":"pod.mood","n":3,"uid":"u4","m":{}}', '{"r":"sup.weather","n":1}'];
  for (const { name } of files(dir))
    change(dir, name, (text) => text.replaceAll('\n{"r":"msg"', `\n${added.join('\n')}\n{"r":"msg"`));
  const expected = await serially([dir]);
  assert.deepEqual(expected.unknownKinds, ['pod.mood', 'sup.weather', 'weather']);
  assert.deepEqual([expected.differences, expected.damages, expected.unanswered], [[], [], 0]);
  assert.deepEqual(await inThreads([dir]), expected);
  const [one, several] = commands(dir);
  assert.deepEqual(several, one);
  const { status, stdout, stderr } = several as { status: number; stdout: string; stderr: string };
  assert.deepEqual([status, stdout], [0, 'identical\n'], stderr);
  assert.match(stderr, /^replayed: pods$/m);
  assert.equal(stderr.match(/JRN010: Records of kind pod\.mood, sup\.weather, weather are not known here/g)?.length, 1);
});

test('a damaged compressed file and a missing segment', async (t) => {
  const dir = await journals(t);
  const [first, , third] = files(dir);
  assert.ok(first && third);
  const gz = gzipSync(first.text);
  rmSync(first.path);
  writeFileSync(`${first.path}.gz`, gz.subarray(0, gz.length - 200));
  writeFileSync(third.path.replace('00000002', '00000004'), third.text.replace('"seq":2', '"seq":4'));
  rmSync(third.path);
  const expected = await serially([dir]);
  assert.deepEqual(
    expected.damages.map((damage) => damage.slice(0, 6)),
    ['JRN001', 'JRN006'],
  );
  assert.deepEqual(await inThreads([dir], false), expected);
  assert.deepEqual(await inThreads([dir], true, 2), expected);
});

test('a flipped byte, or a pod without its beginning, in the middle: one thread does it', async (t) => {
  const dir = await journals(t);
  change(dir, 'shard-00', (text) => {
    const lines = text.split('\n');
    const at = Math.floor(lines.length / 2);
    lines[at] = `#${lines[at]?.slice(1) ?? ''}`;
    return lines.join('\n');
  });
  assert.equal(await inThreads([dir]), null);
  const other = await journals(t);
  change(other, 'shard-00', (text) => text.replace(/^.*"pod\.start".*\n/m, ''));
  assert.match((await serially([other])).damages.join(), /JRN005/);
  assert.equal(await inThreads([other]), null);
});

test('a lie in an outcome', async (t) => {
  const dir = await journals(t);
  for (const { name } of files(dir)) change(dir, name, (text) => text.replaceAll(...LIE));
  const expected = await serially([dir]);
  assert.deepEqual(
    expected.differences.map(({ uid }) => uid),
    PODS,
  );
  assert.deepEqual(await inThreads([dir]), expected);
  // The first difference ends the command: which lines came before it is known to one thread only.
  assert.equal(await inThreads([dir], false), null);
  const [one, several] = commands(dir);
  assert.deepEqual(several, one);
  assert.equal((several as { status: number }).status, 1);
});

test('a line without its parse tells the same part as its record, or none', () => {
  const uids = ['', 'u', 'a-b', 'x"y', 'tab\there', 'ünï', '\u2028', '"', 'back\\slash'];
  uids.push(...Array.from({ length: 100 }, (_, i) => `0f1b${i * 7919}-aaaa-4bbb-8ccc-${i}`));
  const counts = [0, 0, 0];
  for (const uid of uids) {
    const part = partOfPod(uid, 3);
    counts[part] = (counts[part] ?? 0) + 1;
    for (const line of [
      messageText(pods, 17, uid, { type: 'pod.sync', at: 5 }),
      stepText(pods, 4, uid, 'syncing.running', []),
      JSON.stringify({ r: 'fault', n: 3, uid, error: 'x' }),
      JSON.stringify({ r: 'snap', uid, spec: 'x' }),
    ]) {
      const told = partOfLine(line, 3);
      if (/["\\\t]/.test(uid)) assert.equal(told, null, line);
      else assert.equal(told, part, line);
    }
  }
  assert.ok(Math.min(...counts) > 20, String(counts));
  for (const line of [
    '{"r":"segment","v":1}',
    '{"r":"spec","id":"x"}',
    '',
    '#',
    '{"r":"msg","n":1,"uid":"cut',
    '{"r":"step"',
  ])
    assert.equal(partOfLine(line, 3), null, line);
  for (const line of ['{"r":"sup.msg","n":1}', '{"r":"node.step","n":1}']) assert.equal(partOfLine(line, 3), 0);
});

test('small journals are replayed in one thread, as are files that are not there', async (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, 'a.jsonl'), '{}');
  assert.equal(await threadsFor([join(dir, 'a.jsonl'), join(dir, 'none.jsonl')]), 1);
});
