/** One reading of a series; `life` counts the processes that it was read from. */
export interface Reading {
  /** Minutes since the beginning. */
  minute: number;
  value: number;
  life: number;
}

/** What became of a series. Slopes are changes a minute. */
export interface Trend {
  first: number;
  last: number;
  most: number;
  /** Straight line through all readings; null with less than three of them, or all at one time. */
  slope: number | null;
  /** The same within the lives of a process: a process that begins anew does not hide that it grows. */
  slopeWithinLives: number | null;
}

/** The trend of a series; null without readings. */
export function trendOf(readings: readonly Reading[]): Trend | null {
  const [first] = readings;
  const last = readings.at(-1);
  if (first === undefined || last === undefined) return null;
  const lives = Map.groupBy(readings, (r) => r.life);
  return {
    first: first.value,
    last: last.value,
    most: Math.max(...readings.map((r) => r.value)),
    slope: slopeOf([readings]),
    slopeWithinLives: slopeOf([...lives.values()]),
  };
}

/** Least squares with one slope for all groups, and a level of its own for each. */
function slopeOf(groups: readonly (readonly Reading[])[]): number | null {
  let upper = 0;
  let lower = 0;
  let points = 0;
  for (const group of groups) {
    if (group.length < 3) continue;
    points += group.length;
    const mean = (of: (r: Reading) => number) => group.reduce((sum, r) => sum + of(r), 0) / group.length;
    const minute = mean((r) => r.minute);
    const value = mean((r) => r.value);
    for (const r of group) {
      upper += (r.minute - minute) * (r.value - value);
      lower += (r.minute - minute) ** 2;
    }
  }
  return points < 3 || lower === 0 ? null : Number((upper / lower).toPrecision(4));
}
