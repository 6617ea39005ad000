import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { damagesBesideHoles } from '../../tools/journal-holes.ts';
import { bench, manifest, running, until } from './support/bench.ts';
import type { Bench } from './support/bench.ts';

/** Runs `actorlet replay`. */
async function replay(...paths: string[]): Promise<{ code: number; out: string; err: string }> {
  const main = join(import.meta.dirname, '../../../bin/actorlet.ts');
  const child = spawn(process.execPath, [main, 'replay', ...paths], { stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = { out: '', err: '' };
  child.stdout.on('data', (data: Buffer) => (texts.out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (texts.err += data.toString()));
  const code = await new Promise<number>((resolve) => child.once('close', (c) => resolve(c ?? -1)));
  return { code, ...texts };
}

const segments = (b: Bench) => readdirSync(join(b.dir, 'journal')).sort();
const diskUse = (b: Bench) =>
  segments(b).reduce(
    (sum, name) => sum + (statSync(join(b.dir, 'journal', name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );

test('kill -9 of an agent with 200 pods and a restart: the same containers go on, no count moves, both journals replay', async (t) => {
  const pods = 200;
  const b = await bench(t);
  await b.put('pods.yaml', ...Array.from({ length: pods }, (_, i) => manifest(`p${i}`)));
  await running(b, pods);
  const before = [...b.sim.state.containers.keys()].sort();
  for (let round = 0; round < 2; round++) {
    await b.agent.kill();
    await b.restart();
    await running(b, pods);
  }
  // Nothing is made anew: two relists of whoever would.
  await sleep(2_000);
  assert.deepEqual([...b.sim.state.containers.keys()].sort(), before);
  assert.deepEqual(
    [b.sim.state.calls.count('RunPodSandbox'), b.sim.state.calls.count('CreateContainer')],
    [pods, pods],
  );
  assert.ok((await b.agent.rows()).every((row) => row.restarts === 0));
  await b.agent.stop();
  const result = await replay(join(b.dir, 'journal'));
  assert.deepEqual([result.code, result.out], [0, 'identical\n'], result.err);
});

test('kill -9 while 200 pods start, again and again: each is made once and all run', async (t) => {
  const pods = 200;
  const b = await bench(t);
  await b.put('pods.yaml', ...Array.from({ length: pods }, (_, i) => manifest(`p${i}`)));
  for (const made of [20, 80, 150]) {
    await until(`${made} containers`, () => b.sim.state.containers.size >= made, { everyMs: 1 });
    await b.agent.kill();
    await b.restart();
  }
  await running(b, pods);
  const names = new Set([...b.sim.state.containers.values()].map((c) => c.sandbox.metadata.name));
  assert.equal(names.size, pods);
  assert.ok(
    [...b.sim.state.containers.values()].every((c) => c.metadata.attempt === 0 || c.sandbox.metadata.attempt > 0),
  );
  await b.agent.stop();
  const result = await replay(join(b.dir, 'journal'));
  assert.equal(result.out, 'identical\n', result.err);
  assert.deepEqual(damagesBesideHoles(result.err), []);
});

test('a small bound: segments are rotated, compressed and dropped, and what is left replays', async (t) => {
  const maxBytes = 1_048_576;
  const script = { containers: [{ exec: [{ results: [{ stdout: 'x'.repeat(4_000) }] }] }] };
  const b = await bench(t, { script, settings: { journalMaxBytes: maxBytes, shards: 1 } });
  const probe = { exec: { command: ['probe'] }, periodSeconds: 1 };
  const pods = Array.from({ length: 40 }, (_, i) =>
    manifest(`p${i}`, {}, { readinessProbe: probe, livenessProbe: probe }),
  );
  // A segment that begins with forty pods is as large as the bound: its compressed form goes as soon as the next one is full.
  let compressed = false;
  const watch = setInterval(() => (compressed ||= segments(b).some((n) => n.endsWith('.jsonl.gz'))), 20);
  t.after(() => clearInterval(watch));
  await b.put('pods.yaml', ...pods);
  await running(b, pods.length);
  // Until the first segments of the shard are gone.
  await until('the oldest segments to be dropped', () => !segments(b).some((n) => n.startsWith('shard-00-00000001')), {
    everyMs: 200,
  });
  let most = 0;
  for (let i = 0; i < 20; i++, await sleep(100)) most = Math.max(most, diskUse(b));
  assert.ok(compressed);
  // The bound, and what is being written or compressed at the moment.
  assert.ok(most < 2 * maxBytes, `${most} bytes on disk`);
  await b.agent.stop();
  const result = await replay(join(b.dir, 'journal'));
  assert.deepEqual([result.code, result.out], [0, 'identical\n'], result.err);
});

test('a damaged journal: the line is named, what stands before it replays', async (t) => {
  const b = await bench(t, { settings: { shards: 1 } });
  await b.put('pods.yaml', manifest('a'), manifest('b'));
  await running(b, 2);
  await b.agent.stop();
  const name = segments(b).find((n) => n.startsWith('shard-00')) ?? '';
  const whole = readFileSync(join(b.dir, 'journal', name), 'utf8');
  const lines = whole.trimEnd().split('\n');
  const at = Math.floor(lines.length / 2);
  const file = join(b.dir, 'damaged.jsonl');

  // Cut within the last line.
  writeFileSync(file, whole.trimEnd().slice(0, -10));
  let result = await replay(file);
  assert.equal(result.code, 3);
  assert.match(result.err, new RegExp(`JRN002[^]*damaged\\.jsonl, line ${lines.length}:`));

  // A byte in the middle that makes its line no JSON.
  const flipped = [...lines];
  flipped[at] = `#${lines[at]?.slice(1) ?? ''}`;
  writeFileSync(file, `${flipped.join('\n')}\n`);
  result = await replay(file);
  assert.equal(result.code, 3);
  assert.match(result.err, new RegExp(`JRN002[^]*damaged\\.jsonl, line ${at + 1}:`));

  writeFileSync(file, `${lines.slice(0, at).join('\n')}\n`);
  result = await replay(file);
  assert.deepEqual([result.code, result.out], [0, 'identical\n'], result.err);

  // A byte that leaves it JSON, in a recorded effect: the difference is shown.
  const step = lines.findIndex((line) => line.includes('"r":"step"') && line.includes('cri.CreateContainer'));
  assert.ok(step > 0);
  const lied = [...lines];
  lied[step] = (lines[step] ?? '').replace('cri.CreateContainer', 'cri.StartContainer');
  writeFileSync(file, `${lied.join('\n')}\n`);
  result = await replay(file);
  assert.equal(result.code, 1);
  assert.match(result.out, new RegExp(`^different: effect[^]*line ${step + 1}\n`));
});
