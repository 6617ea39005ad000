import type { Observation, Observations } from './observations.ts';
import type { PodUse } from './pod-use.ts';
import type { Signal } from './signals.ts';
import type { Threshold } from './thresholds.ts';
import { amountOf } from './thresholds.ts';

/** What was seen at a moment, ms since the epoch. */
export interface Sounding {
  at: number;
  seen: Observations;
}

/** What the node could give back without a pod; null: not known. */
export interface Spare {
  /** Images that nobody uses. */
  images: { count: number; bytes: number } | null;
  /** Containers that have ended. */
  containers: { count: number } | null;
}

/**
 * What is remembered of looks, also of those by which nothing is short: by it people see pressure before it hurts, and what other
 * thresholds would have done. Nothing is decided by it. Plain JSON.
 */
export interface Soundings {
  /** The last ones, oldest first. */
  last: Sounding[];
  /** What pods took when they were measured last. */
  pods: PodUse[];
  /** When that was, ms since the epoch; null: not yet. */
  podsAt: number | null;
  spare: Spare | null;
}

/** What is told of pods: those that take something else than before, and those that are gone. */
export interface PodsMeasured {
  changed: PodUse[];
  gone: string[];
  spare: Spare;
}

/** So many are remembered. */
const KEPT = 32;
/** What has moved by this share of all there is, or of what is left, is told. */
const SHARE_OF_ALL = 64;
const SHARE_OF_LEFT = 8;
/** At the latest after so long a look is told, and pods are measured, ms. */
const REST_MS = 300_000;
/** Time between two measurements of pods when a threshold is near, and before the first one, ms. */
const NEAR_MS = 60_000;
/** A threshold that is met within this at the present speed is near, ms. */
const SOON_MS = 600_000;
/** The speed is that of so many soundings, none of them older than this, ms. */
const SPEED_OF = 6;
const SPEED_MS = 600_000;

/** Before the first look. */
export const NO_SOUNDINGS: Soundings = { last: [], pods: [], podsAt: null, spare: null };

/** With one more. After a clock that was set back the earlier ones tell nothing of speed. */
export function sounded(before: Soundings, { at, seen }: Sounding, measured: PodsMeasured | null): Soundings {
  const earlier = before.last.filter((each) => each.at < at).slice(1 - KEPT);
  const next = { ...before, last: [...earlier, { at, seen }] };
  if (measured === null) return next;
  const { changed, gone, spare } = measured;
  const told = new Set([...gone, ...changed.map(({ uid }) => uid)]);
  return { ...next, pods: [...before.pods.filter(({ uid }) => !told.has(uid)), ...changed], podsAt: at, spare };
}

/** Is a look worth telling? `pods`: with what all pods take. */
export function worthTelling(
  { last, podsAt }: Soundings,
  thresholds: readonly Threshold[],
  { at, seen }: Sounding,
): 'nothing' | 'node' | 'pods' {
  const [first] = last;
  const newest = last.at(-1);
  if (first === undefined || newest === undefined || at < newest.at) return 'node';
  const near = thresholds.some((threshold) => isNear(threshold, seen, last));
  const since = podsAt ?? first.at;
  if (at < since || at - since >= (near || podsAt === null ? NEAR_MS : REST_MS)) return 'pods';
  if (at - newest.at >= REST_MS) return 'node';
  return Object.keys(seen).some((name) => hasMoved(name as Signal, newest.seen, seen, thresholds)) ? 'node' : 'nothing';
}

/** What of the pods differs enough from what was told last. */
export function podsToTell(before: readonly PodUse[], now: readonly PodUse[]): Pick<PodsMeasured, 'changed' | 'gone'> {
  const known = new Map(before.map((use) => [use.uid, use]));
  const changed = now.filter((use) => !isAbout(known.get(use.uid), use));
  const alive = new Set(now.map(({ uid }) => uid));
  return { changed, gone: before.flatMap(({ uid }) => (alive.has(uid) ? [] : [uid])) };
}

/** What is left until a threshold is met; negative: so much is missing. Bytes or counts. */
export function leftOf({ value }: Threshold, { available, capacity }: Observation): number {
  return available - Number(amountOf(value, capacity)) / 1e9;
}

/** Of the node's memory and of what all its pods may have, bytes; null: not known, or there is none. */
export interface NodeAndPods {
  readonly node: number | null;
  readonly pods: number | null;
}

/** Bytes until the nearest threshold of each memory that is not met. */
export function memoryLeft(thresholds: readonly Threshold[], seen: Observations): NodeAndPods {
  const nearest = (signal: Signal): number | null => {
    const observed = seen[signal];
    if (observed === undefined) return null;
    const left = thresholds.flatMap((threshold) => (threshold.signal === signal ? leftOf(threshold, observed) : []));
    const ahead = left.filter((bytes) => bytes > 0);
    return ahead.length === 0 ? null : Math.min(...ahead);
  };
  return { node: nearest('memory.available'), pods: nearest('allocatableMemory.available') };
}

/** How fast a signal moves, a second; negative: there is less and less. Null: that is not known. */
export function speedOf(last: readonly Sounding[], signal: Signal): number | null {
  const newest = last.at(-1)?.at ?? 0;
  const points = last.flatMap(({ at, seen }) => {
    const value = seen[signal]?.available;
    return value === undefined || newest - at > SPEED_MS ? [] : [{ x: (at - newest) / 1000, y: value }];
  });
  return slopeOf(points.slice(-SPEED_OF));
}

/** The slope of the line that fits best. */
function slopeOf(points: readonly { x: number; y: number }[]): number | null {
  if (points.length < 2) return null;
  const mean = (of: (point: { x: number; y: number }) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [mx, my] = [mean(({ x }) => x), mean(({ y }) => y)];
  const spread = mean(({ x }) => (x - mx) ** 2);
  return spread === 0 ? null : mean(({ x, y }) => (x - mx) * (y - my)) / spread;
}

function isNear(threshold: Threshold, seen: Observations, last: readonly Sounding[]): boolean {
  const observed = seen[threshold.signal];
  if (observed === undefined) return false;
  const left = leftOf(threshold, observed);
  if (left < observed.available / 2) return true;
  const speed = speedOf(last, threshold.signal) ?? 0;
  return speed < 0 && (left / -speed) * 1000 < SOON_MS;
}

function hasMoved(signal: Signal, before: Observations, seen: Observations, thresholds: readonly Threshold[]): boolean {
  const [was, now] = [before[signal], seen[signal]];
  if (was === undefined || now === undefined) return was !== now;
  const by = Math.abs(now.available - was.available);
  if (by === 0) return false;
  const lefts = thresholds.flatMap((each) => (each.signal === signal ? Math.abs(leftOf(each, now)) : []));
  return by >= Math.min(now.capacity / SHARE_OF_ALL, ...lefts.map((left) => left / SHARE_OF_LEFT));
}

/** Within a sixteenth the same, and otherwise equal. */
function isAbout(a: PodUse | undefined, b: PodUse): boolean {
  if (a === undefined) return false;
  const [{ takes: one, ...was }, { takes: other, ...is }] = [a, b];
  if (JSON.stringify(was) !== JSON.stringify(is)) return false;
  if (one === undefined || other === undefined) return one === other;
  const [before, now] = [numbersOf(one), numbersOf(other)];
  return before.every((value, i) => Math.abs(value - (now[i] ?? 0)) <= Math.max(value, now[i] ?? 0) / 16);
}

function numbersOf({ memory, pids, disk }: NonNullable<PodUse['takes']>): number[] {
  return [memory, pids, ...Object.values(disk).flatMap(({ bytes, inodes }) => [bytes, inodes])];
}
