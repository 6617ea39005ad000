/** One reading of a series. */
export interface Reading {
  /** Minutes since the beginning of the soak. */
  minute: number;
  value: number;
  /** Counts the processes that it was read from. */
  life: number;
  /** Minutes since that process began. */
  age: number;
  /** Containers on the node at that time: more of them need more of everything. */
  load: number;
}

/** What became of a series. */
export interface Trend {
  first: number;
  last: number;
  most: number;
  /** Change an hour at the same number of containers; null when what was read is too short for one. */
  perHour: number | null;
  /** Twice the standard error of that. */
  error: number | null;
  /** Minutes that the slope rests on. */
  minutes: number;
}

/** A process that is young still grows, and the node fills up, minutes. */
const WARM_UP_MIN = 2;
/**
 * The same for memory, minutes: code is compiled as it is run, V8 settles the sizes of its heaps, and memories that are bounded (the
 * events of the last pods) fill up. Before that the readings lie on a curve and not around a line, which no error of a slope tells.
 */
const MEMORY_WARM_UP_MIN = 6;

/** Minutes for which a process is too young for a series of this name. */
export function warmUpOf(series: string): number {
  return series.endsWith('.rssMiB') ? MEMORY_WARM_UP_MIN : WARM_UP_MIN;
}
/** A shorter life tells nothing of growth, minutes. */
const SHORTEST_LIFE_MIN = 3;
/** Readings one after the other are alike; means of so many minutes are not. */
const BUCKET_MIN = 0.5;

/**
 * The trend of a series; null without readings. The slope is that of the least squares through the means of half minutes, with
 * a level of its own for each life (a process that begins anew does not hide that it grows) and a share for each container.
 * Readings of processes that are younger than `warmUpMin` do not count for it.
 */
export function trendOf(readings: readonly Reading[], warmUpMin = WARM_UP_MIN): Trend | null {
  const [first] = readings;
  const last = readings.at(-1);
  if (first === undefined || last === undefined) return null;
  const lives = [...Map.groupBy(readings, (r) => r.life).values()]
    .map((life) => life.filter((r) => r.age >= warmUpMin))
    .filter((life) => spanOf(life) >= SHORTEST_LIFE_MIN);
  const line = slopeOf(lives.map(bucketed));
  return {
    first: first.value,
    last: last.value,
    most: Math.max(...readings.map((r) => r.value)),
    perHour: line === null ? null : round(line.slope * 60),
    error: line === null ? null : round(2 * line.error * 60),
    minutes: round(lives.reduce((sum, life) => sum + spanOf(life), 0)),
  };
}

function round(value: number): number {
  // no -0
  return Math.round(value * 10) / 10 + 0;
}

function spanOf(life: readonly Reading[]): number {
  return (life.at(-1)?.minute ?? 0) - (life[0]?.minute ?? 0);
}

interface Point {
  x: number;
  load: number;
  y: number;
}

function bucketed(life: readonly Reading[]): Point[] {
  const buckets = Map.groupBy(life, (r) => Math.floor(r.minute / BUCKET_MIN));
  return [...buckets.values()].map((bucket) => ({
    x: meanOf(bucket, (r) => r.minute),
    load: meanOf(bucket, (r) => r.load),
    y: meanOf(bucket, (r) => r.value),
  }));
}

function meanOf<T>(list: readonly T[], of: (one: T) => number): number {
  return list.reduce((sum, one) => sum + of(one), 0) / list.length;
}

/** Slope over `x` and its standard error, with `load` taken out; null with too few points. */
function slopeOf(groups: readonly (readonly Point[])[]): { slope: number; error: number } | null {
  const points = groups.flatMap((group) => {
    const [x, load, y] = [meanOf(group, (p) => p.x), meanOf(group, (p) => p.load), meanOf(group, (p) => p.y)];
    return group.map((p) => ({ x: p.x - x, load: p.load - load, y: p.y - y }));
  });
  const sum = (of: (p: Point) => number): number => points.reduce((total, p) => total + of(p), 0);
  const [xx, ll, xl] = [sum((p) => p.x ** 2), sum((p) => p.load ** 2), sum((p) => p.x * p.load)];
  const [xy, ly] = [sum((p) => p.x * p.y), sum((p) => p.load * p.y)];
  // a load that never changed, or only as time did, cannot be told from time
  const apart = ll > 0 && xx * ll - xl ** 2 > 1e-6 * xx * ll;
  const free = points.length - groups.length - (apart ? 2 : 1);
  if (xx === 0 || free < 1) return null;
  const det = apart ? xx * ll - xl ** 2 : xx;
  const slope = apart ? (xy * ll - ly * xl) / det : xy / xx;
  const share = apart ? (ly * xx - xy * xl) / det : 0;
  const rest = sum((p) => (p.y - slope * p.x - share * p.load) ** 2);
  return { slope, error: Math.sqrt((rest / free) * ((apart ? ll : 1) / det)) };
}
