import type { StateHistory } from '../../inspector/inspector-api.ts';
import type { Tone } from './state-names.ts';
import { toneOf } from './state-names.ts';

/** From the bottom up: what is well carries what is not, so that trouble stands out at the top. */
export const BANDS: readonly Tone[] = ['ok', 'end', 'stop', 'wait', 'fail'];

/** How the bands are called beside the chart. */
export const BAND_NAMES: Readonly<Record<Tone, string>> = {
  ok: 'running',
  wait: 'waiting',
  fail: 'failing',
  stop: 'stopping',
  end: 'ended',
};

/** How many pods were in states of each tone at the end of each span. */
export type BandCounts = Readonly<Record<Tone, readonly number[]>>;

/** Puts the states' counts together by tone. */
export function bandCounts({ length, states }: StateHistory): BandCounts {
  const none = () => Array.from({ length }, () => 0);
  const bands = { ok: none(), wait: none(), fail: none(), stop: none(), end: none() };
  for (const { state, counts } of states) {
    const row = bands[toneOf(state)];
    for (let i = 0; i < length; i++) row[i] = (row[i] ?? 0) + Math.max(0, counts[i] ?? 0);
  }
  return bands;
}

/** Most pods at once. */
export function mostPods(counts: BandCounts, length: number): number {
  let most = 0;
  for (let i = 0; i < length; i++)
    most = Math.max(
      most,
      BANDS.reduce((sum, tone) => sum + (counts[tone][i] ?? 0), 0),
    );
  return most;
}

/** A box to draw in, px; `thin`: least height of a band with a pod in it, so that one of a thousand is still seen. */
export interface AreaBox {
  height: number;
  thin: number;
}

/**
 * The bands as filled steps, one path each, in a box that is as wide as `ends`: where each span ends, in the caller's
 * units. A band that is empty all the time has no path.
 */
export function areaPaths(counts: BandCounts, ends: readonly number[], { height, thin }: AreaBox): Map<Tone, string> {
  const most = mostPods(counts, ends.length);
  const scale = most === 0 ? 0 : (height - BANDS.length * thin) / most;
  const tall = (tone: Tone, i: number): number => {
    const count = counts[tone][i] ?? 0;
    return count === 0 ? 0 : Math.max(thin, count * scale);
  };
  const floor = ends.map(() => 0);
  const paths = new Map<Tone, string>();
  for (const tone of BANDS) {
    const top = ends.map((_, i) => (floor[i] ?? 0) + tall(tone, i));
    if (top.some((y, i) => y > (floor[i] ?? 0))) paths.set(tone, band(ends, floor, top, height));
    top.forEach((y, i) => (floor[i] = y));
  }
  return paths;
}

/** Along the top to the right, back along the floor. */
function band(ends: readonly number[], floor: readonly number[], top: readonly number[], height: number): string {
  const y = (up: number | undefined) => (Math.round((height - (up ?? 0)) * 10) / 10).toString();
  const x = (at: number | undefined) => (Math.round((at ?? 0) * 10) / 10).toString();
  let d = `M0 ${y(top[0])}`;
  for (let i = 0; i < ends.length; i++) {
    if (i === 0 || top[i] !== top[i - 1]) d += `V${y(top[i])}`;
    if (i === ends.length - 1 || top[i] !== top[i + 1]) d += `H${x(ends[i])}`;
  }
  d += `V${y(floor.at(-1))}`;
  for (let i = ends.length - 1; i > 0; i--) if (floor[i] !== floor[i - 1]) d += `H${x(ends[i - 1])}V${y(floor[i - 1])}`;
  return `${d}H0Z`;
}
