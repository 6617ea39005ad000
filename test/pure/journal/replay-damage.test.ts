import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { pod } from '../pod/pod-world.ts';
import { feed, files, folder, journalingShard, lifeOf } from './journal-fixture.ts';

function actorlet(...args: string[]): { code: number; out: string; err: string } {
  const main = join(import.meta.dirname, '../../../bin/actorlet.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'replay', ...args], { encoding: 'utf8' });
  return { code: status ?? -1, out: stdout, err: stderr };
}

/** Two shards' journals: one segment of shard 0, several of shard 1. */
async function journals(t: TestContext): Promise<string> {
  const dir = folder(t);
  const first = journalingShard(dir);
  await feed(first, 'u1', lifeOf(pod({}, 'u1')));
  first.close();
  for (const uid of ['u2', 'u3', 'u4']) {
    const other = journalingShard(dir, { shard: 1 });
    await feed(other, uid, lifeOf(pod({}, uid)));
    other.close();
  }
  return dir;
}

const messagesOf = (err: string) => Number(/^(\d+) messages/.exec(err)?.[1]);

test('a cut last line is named, and the rest replays', async (t) => {
  const dir = await journals(t);
  const whole = actorlet(dir);
  assert.deepEqual([whole.code, whole.out], [0, 'identical\n'], whole.err);
  const [first] = files(dir);
  assert.ok(first);
  const lines = first.text.trimEnd().split('\n');
  writeFileSync(first.path, first.text.trimEnd().slice(0, -7));
  const cut = actorlet(dir);
  assert.deepEqual([cut.code, cut.out], [3, 'identical\n']);
  assert.match(cut.err, new RegExp(`^JRN002: .*shard-00-00000001\\.jsonl, line ${lines.length}: `, 'm'));
  assert.match(cut.err, /1 messages had no recorded outcome/);
  assert.equal(messagesOf(cut.err), messagesOf(whole.err));
});

test('a flipped byte ends the reading of its file only', async (t) => {
  const dir = await journals(t);
  const all = messagesOf(actorlet(dir).err);
  const [first] = files(dir);
  assert.ok(first);
  const lines = first.text.split('\n');
  const at = Math.floor(lines.length / 2);
  lines[at] = `#${lines[at]?.slice(1) ?? ''}`;
  writeFileSync(first.path, lines.join('\n'));
  const { code, out, err } = actorlet(dir);
  assert.deepEqual([code, out], [3, 'identical\n']);
  assert.match(err, new RegExp(`^JRN002: .*shard-00-00000001\\.jsonl, line ${at + 1}: `, 'm'));
  const own = lines.filter((line) => line.startsWith('{"r":"msg"')).length;
  const before = lines.slice(0, at).filter((line) => line.startsWith('{"r":"msg"')).length;
  assert.ok(Math.abs(messagesOf(err) - (all - own + before)) <= 1, err);
});

test('a damaged gzip file is named, and the other files go on', async (t) => {
  const dir = await journals(t);
  const [first] = files(dir);
  assert.ok(first);
  const gz = gzipSync(first.text);
  rmSync(first.path);
  writeFileSync(`${first.path}.gz`, gz.subarray(0, gz.length - 200));
  const { code, out, err } = actorlet(dir);
  assert.deepEqual([code, out], [3, 'identical\n']);
  assert.match(err, /^JRN001: .*shard-00-00000001\.jsonl\.gz/m);
  assert.ok(messagesOf(err) > 50, err);
});

test('a missing segment is named', async (t) => {
  const dir = await journals(t);
  const missing = files(dir).find(({ name }) => name.startsWith('shard-01-00000002'));
  assert.ok(missing);
  rmSync(missing.path);
  const { code, out, err } = actorlet(dir);
  assert.deepEqual([code, out], [3, 'identical\n']);
  assert.match(err, /^JRN006: .*shard-01-00000003\.jsonl, line 1: the log of shard 1 goes on here with segment 3; 1 /m);
});

test('a lie in an outcome is a difference; with --all-differences each pod is named once', async (t) => {
  const dir = await journals(t);
  for (const { path, text } of files(dir).slice(0, 2))
    writeFileSync(path, text.replaceAll('"type":"cri.StopContainer","key"', '"type":"cri.StartContainer","key"'));
  const one = actorlet(dir);
  assert.equal(one.code, 1);
  assert.match(one.out, /^different: effect[^]*pod: {7}default\/web-node1 \(u1\)/);
  const all = actorlet('--all-differences', dir);
  assert.equal(all.code, 1);
  assert.deepEqual(
    [...all.out.matchAll(/^pod: .*\((.*)\)$/gm)].map(([, uid]) => uid),
    ['u1', 'u2'],
  );
  assert.match(all.out, /^2 of 4 pods decide otherwise$/m);
  const json = actorlet('--all-differences', '--json', dir);
  assert.deepEqual(
    json.out
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { difference: { uid: string } }).difference.uid),
    ['u1', 'u2'],
  );
});

test('--pod, --from and --until print the steps of their part; all of it is compared', async (t) => {
  const dir = await journals(t);
  const path = readFileSync(join(dir, 'shard-01-00000001.jsonl'), 'utf8');
  const numbers = path
    .split('\n')
    .filter((line) => line.startsWith('{"r":"msg"'))
    .map((line) => (JSON.parse(line) as { n: number }).n);
  const { code, out } = actorlet('--pod', 'u2', '--from', '3', '--until', '6', '--json', dir);
  assert.equal(code, 0);
  const steps = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { n: number; uid: string; state: string; outputs: unknown[] });
  assert.deepEqual(
    steps.map(({ n, uid }) => [n, uid]),
    numbers.filter((n) => n >= 3 && n <= 6).map((n) => [n, 'u2']),
  );
  const text = actorlet('--pod', 'u2', dir).out.trimEnd().split('\n');
  assert.equal(text.length, numbers.length + 1);
  assert.match(
    text[0] ?? '',
    /^1970-01-01T00:16:40\.000Z #1 default\/web-node1: pod\.start -> syncing\.\w+ \[.*image\.Status container\/c\/1/,
  );
  assert.equal(text.at(-1), 'identical');
  // A time: nothing is before it.
  assert.equal(actorlet('--until', '1970-01-01T00:00:00Z', dir).out, 'identical\n');
  const unknown = actorlet('--pod', 'nobody', dir);
  assert.match(unknown.err, /JRN007/);
  assert.notEqual(unknown.code, 0);
  assert.match(actorlet('--from', 'soon', dir).err, /JRN008/);
});
