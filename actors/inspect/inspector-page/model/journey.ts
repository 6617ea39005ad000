import type { StepLine } from '../../inspector/inspector-api.ts';

/** A way from one state to another that a pod has taken. */
export interface Way {
  from: string;
  to: string;
  times: number;
  /** Step of the last time. */
  last: number;
}

/** Key of a way. */
function wayKey(from: string, to: string): string {
  return `${from}>${to}`;
}

/** Ways that the pod took in these steps, up to and with step `until`. */
export function waysTaken(steps: Iterable<StepLine>, until: number): Map<string, Way> {
  const ways = new Map<string, Way>();
  for (const step of steps) {
    if (step.index > until || step.before === step.after || step.before === '') continue;
    const key = wayKey(step.before, step.after);
    const known = ways.get(key);
    if (known === undefined) ways.set(key, { from: step.before, to: step.after, times: 1, last: step.index });
    else {
      known.times++;
      known.last = Math.max(known.last, step.index);
    }
  }
  return ways;
}

/** The last way that was taken, if any. */
export function lastWay(ways: ReadonlyMap<string, Way>): Way | undefined {
  let last: Way | undefined;
  for (const way of ways.values()) {
    if (last === undefined || way.last > last.last) last = way;
  }
  return last;
}
