import type { Trend } from './slopes.ts';

/** Runs of so many minutes are long enough to tell growth from noise. */
export const JUDGED_MINUTES = 20;
/** What a series may grow by in a minute, by the end of its name. */
const LIMITS: readonly (readonly [ending: string, perMinute: number])[] = [
  ['actorlet.rssMiB', 1],
  ['actorlet.fds', 0.5],
  ['actorlet.threads', 0.2],
  ['mounts', 0.5],
  ['cgroups', 0.5],
];

/** Series that grew more than they may; nothing for a run that is too short to tell. */
export function growing(trends: Readonly<Record<string, Trend | null>>, minutes: number): string[] {
  if (minutes < JUDGED_MINUTES) return [];
  return LIMITS.flatMap(([name, limit]) => {
    const trend = trends[name];
    const slope = trend?.slopeWithinLives ?? trend?.slope;
    if (slope === undefined || slope === null) return [`${name}: no readings`];
    return slope > limit ? [`${name}: ${slope} a minute, more than ${limit}`] : [];
  });
}
