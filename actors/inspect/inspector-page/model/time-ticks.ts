const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Distances of ticks that people count in. */
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 28].map((n) => n * DAY),
];

/** A moment on the axis of time. */
export interface Tick {
  at: number;
  text: string;
}

/**
 * At most `most` round moments between two, as local times.
 * @param offset minutes that local time is behind UTC (`Date.getTimezoneOffset`)
 */
export function timeTicks(from: number, to: number, most: number, offset: number): Tick[] {
  const span = to - from;
  if (!(span > 0) || most < 1) return [];
  const step = STEPS.find((s) => span / s <= most) ?? Math.ceil(span / most / DAY) * DAY;
  const shift = offset * MINUTE;
  const ticks: Tick[] = [];
  for (let at = Math.ceil((from - shift) / step) * step + shift; at <= to; at += step)
    ticks.push({ at, text: tickText(at - shift, step) });
  return ticks;
}

/** @param local the moment as if it were UTC */
function tickText(local: number, step: number): string {
  const text = new Date(local).toISOString();
  const midnight = local % DAY === 0;
  if (step >= DAY || (midnight && step >= HOUR)) return text.slice(5, 10);
  return step < MINUTE ? text.slice(11, 19) : text.slice(11, 16);
}
