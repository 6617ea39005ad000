import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { pressureCommand } from '../../../bin/commands/pressure.ts';
import type { WhatIf } from '../../../machines/pressure/what-if.ts';
import type { PressureReport } from '../../../machines/pressure/pressure-report.ts';
import { makePod } from './eviction-bench.ts';
import { fakeNode, GI } from './fake-node.ts';

const MI = 2 ** 20;

/** A node whose memory leaks into pod `leak`, journaled; `sec` seconds of it. */
async function leakingNode(t: TestContext, { perSecond, sec }: { perSecond: number; sec: number }) {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-pressure-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const pods = [makePod('small'), makePod('leak', { requests: { memory: '1Gi' } }), makePod('core', { priority: 2e9 })];
  let leaked = 0;
  const journal = { dir, agent: 'test', maxBytes: 2 ** 24, log: pino({ enabled: false }) };
  const takes = (pod: (typeof pods)[number]) =>
    pod.metadata?.name === 'leak' ? 2 * GI + leaked : pod.metadata?.name === 'core' ? 3 * GI : 0.25 * GI;
  const node = fakeNode({ pods, journal, takes });
  node.manager.start?.();
  for (let i = 0; i < sec; i++) {
    await node.pass(1_000);
    const [evicted] = node.seen.told;
    if (evicted === undefined) leaked += perSecond;
    else {
      // It ends, and all it had is there again.
      node.seen.states.set(evicted.uid, 'terminated.kept');
      leaked = -2 * GI;
    }
    node.seen.available = 8 * GI - leaked;
  }
  return { ...node, dir, leaked: () => leaked };
}

async function pressure(dir: string, now: number, ...args: string[]): Promise<string> {
  let out = '';
  const command = pressureCommand({ write: (text) => (out += text), now: () => now }).exitOverride();
  await command.parseAsync(['--journal', dir, ...args], { from: 'user' });
  return out;
}

it('tells how fast memory goes, when the threshold is met, and who would go first, before anything is short', async (t) => {
  const { dir, seen, leaked, manager } = await leakingNode(t, { perSecond: 20 * MI, sec: 240 });
  t.after(() => manager.stop?.());
  assert.equal(seen.told.length, 0, 'nothing is short yet');
  const report = JSON.parse(await pressure(dir, seen.now, '--json')) as PressureReport;
  const memory = report.signals.find(({ signal }) => signal === 'memory.available');
  assert.deepEqual(
    [report.state, report.conditions, memory?.resource, memory?.condition],
    ['watching.calm', [], 'memory', 'MemoryPressure'],
  );
  // A look each 10 s tells what has moved by 1/64 of all or 1/8 of what is left.
  assert.ok(seen.now - (report.seenAt ?? 0) <= 30_000);
  assert.ok(Math.abs((memory?.speed ?? 0) + 20 * MI) < MI / 2, String(memory?.speed));
  const [hard] = memory?.thresholds ?? [];
  assert.deepEqual([hard?.kind, hard?.quantity, hard?.metSince], ['hard', '1Gi', null]);
  const really = (7 * GI - leaked()) / (20 * MI);
  assert.ok(Math.abs((hard?.untilMs ?? 0) / 1000 - really) < 40, `${String(hard?.untilMs)} of ${really}`);
  assert.deepEqual(
    report.rankings.find(({ resource }) => resource === 'memory')?.pods.map(({ name }) => name),
    ['leak', 'small', 'core'],
  );
  assert.deepEqual(report.spare, { images: { count: 3, bytes: GI }, containers: null });

  const text = await pressure(dir, seen.now);
  assert.match(text, /^memory\.available +\d\.\dGi of 16Gi +-20Mi\/s +hard 1Gi +[\d.]+(Gi|Mi) +in \d+ (s|min)/m);
  assert.match(text, /^ {2}1\. default\/leak \(uses [\d.]+Gi, asked for 1Gi, priority 0\): more than it asked for$/m);
  assert.match(text, /^ {2}3\. default\/core \(.*critical: never evicted\)/m);
});

it('a node at rest has a line each five minutes, and is told as still', async (t) => {
  const { dir, seen, manager } = await leakingNode(t, { perSecond: 0, sec: 1_800 });
  t.after(() => manager.stop?.());
  const report = JSON.parse(await pressure(dir, seen.now, '--json')) as PressureReport;
  const memory = report.signals.find(({ signal }) => signal === 'memory.available');
  assert.ok((memory?.history.length ?? 99) <= 9, `${String(memory?.history.length)} lines in half an hour`);
  assert.ok((memory?.history.length ?? 0) >= 6);
  assert.match(await pressure(dir, seen.now), /^memory\.available +8Gi of 16Gi +still +hard 1Gi +7Gi +no$/m);
});

it('says what is missing where nothing is recorded', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-pressure-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  await assert.rejects(pressure(dir, 0), /PRS002: The journal .* says nothing of eviction\./);
});

it('with other thresholds: who would have gone, when, and that nobody else had to', async (t) => {
  const { dir, seen, manager } = await leakingNode(t, { perSecond: 20 * MI, sec: 420 });
  t.after(() => manager.stop?.());
  assert.deepEqual(
    seen.told.map(({ uid }) => uid),
    ['uid-leak'],
  );
  const run = async (...changes: string[]) =>
    JSON.parse(await pressure(dir, seen.now, '--json', '--dry-run', ...changes)) as WhatIf;
  const went = (evictions: WhatIf['would']) => evictions.map(({ name }) => name);

  const same = await run('evictionHard.memory.available=1Gi');
  assert.deepEqual([went(same.would), went(same.was)], [['leak'], ['leak']]);
  assert.equal(same.would[0]?.at, same.was[0]?.at, 'with the same settings it is what it was');

  const early = await run('evictionHard.memory.available=4Gi');
  assert.deepEqual(went(early.would), ['leak'], 'what it takes later is not missed');
  // 4 GiB had gone after 205 s; the threshold of 1 GiB was met after 358 s.
  const sooner = ((early.was[0]?.at ?? 0) - (early.would[0]?.at ?? 0)) / 1000;
  assert.ok(sooner >= 140 && sooner <= 170, String(sooner));
  assert.deepEqual(early.conditions[0]?.conditions, ['MemoryPressure']);

  const late = await run('evictionHard.memory.available=100Mi');
  assert.deepEqual(went(late.would), []);

  const greedy = await run('evictionHard.memory.available=13Gi');
  assert.deepEqual(went(greedy.would).sort(), ['leak', 'small'], 'critical pods never go');

  const text = await pressure(dir, seen.now, '--dry-run', 'evictionHard.memory.available=4Gi');
  assert.match(text, /^1 pod would have gone; 1 pod went$/m);
  assert.match(
    text,
    /^ {2}\S+Z {2}default\/leak \(uses .*\) for memory\.available: 3\.\dGi of 16Gi, less than 4Gi \(hard\)$/m,
  );
});

it('a soft threshold with a grace period; a change that is none says what is wrong', async (t) => {
  const { dir, seen, manager } = await leakingNode(t, { perSecond: 20 * MI, sec: 300 });
  t.after(() => manager.stop?.());
  const dry = (...changes: string[]) => pressure(dir, seen.now, '--dry-run', ...changes);
  const soft = ['evictionSoft.memory.available=6Gi', 'evictionSoftGracePeriod.memory.available=60s'];
  assert.match(await dry(...soft), /^1 pod would have gone; 0 pods went$[^]*less than 6Gi \(soft\)$/m);
  assert.match(await dry(soft[0] ?? '', 'evictionSoftGracePeriod.memory.available=10m'), /^0 pods would have gone/m);
  for (const [change, problem] of [
    ['evictionHard.memory.free=1Gi', 'memory.free is no signal'],
    ['evictionHard.memory.available=lots', 'lots is no amount'],
    ['evictionSoftGracePeriod.nodefs.available=1m', 'there is no soft threshold of nodefs.available'],
    ['evictionHard', 'there is no ='],
  ] as const)
    await assert.rejects(dry(change), (error: Error) => error.message.includes(`--dry-run ${change}: ${problem}`));
});
