import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { trendOf, warmUpOf } from '../soak/slopes.ts';
import type { Reading } from '../soak/slopes.ts';
import { wordFor } from '../soak/verdict.ts';

/** Pods that came and went in a minute of the run below. */
const PODS_A_MINUTE = 773 / 30;
/** A process is read from half a minute on. */
const FIRST_AGE_MIN = 0.5;

/** What was read in half an hour of `bin/soak` of the agent that lived longest (`minute MiB containers`), with a leak added. */
function readings(leakMiBOfPod: number): Reading[] {
  const file = new URL('../soak/recorded/resident-mib.txt', import.meta.url);
  const rows = readFileSync(file, 'utf8').trim().split('\n');
  const all = rows.map((row) => row.split(' ').map(Number));
  const began = (all[0]?.[0] ?? 0) - FIRST_AGE_MIN;
  return all.map(([minute = 0, mib = 0, load = 0]) => {
    const age = minute - began;
    return { minute, value: mib + age * PODS_A_MINUTE * leakMiBOfPod, life: 1, age, load };
  });
}

const SERIES = 'actorlet.rssMiB';
const wordOf = (leakMiBOfPod: number) => wordFor(SERIES, trendOf(readings(leakMiBOfPod), warmUpOf(SERIES)));

test('what an agent really took is flat, and with a leak of 1 MiB for 20 or 40 pods it grows', () => {
  assert.equal(readings(0).length, 211);
  assert.equal(wordOf(0), 'flat');
  assert.equal(wordOf(1 / 20), 'grows');
  assert.equal(wordOf(1 / 40), 'grows');
});

test('a smaller leak is at least not called flat', () => {
  assert.equal(wordOf(1 / 80), 'not certain');
});

test('the beginning, in which memories that are bounded fill up, is no part of the slope, and is longer than that of other series', () => {
  const [whole, settled] = [trendOf(readings(0)), trendOf(readings(0), warmUpOf(SERIES))];
  assert.ok(whole?.perHour != null && settled?.perHour != null && settled.perHour < whole.perHour / 2);
  assert.ok(warmUpOf(SERIES) > warmUpOf('actorlet.fds'));
  assert.ok(settled.minutes > 10, 'and enough is left');
});
