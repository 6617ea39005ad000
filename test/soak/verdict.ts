import type { Trend } from './slopes.ts';

/** Runs of so many minutes are long enough to tell growth from noise. */
export const JUDGED_MINUTES = 20;

/** What a series may grow by in an hour. What containerd itself takes is shown and not judged: it is killed all the time, and loses things. */
export const LIMITS: Readonly<Record<string, number>> = {
  // 1 MiB for 40 of its pods is as much
  'actorlet.rssMiB': 40,
  'actorlet.fds': 12,
  'actorlet.threads': 4,
  mounts: 6,
  cgroups: 6,
};

/** What is said of a series: `flat` is certain, `grows` is a failure, else it grows by less than can be told from noise. */
export type Word = 'flat' | 'grows' | 'not certain' | 'not judged';

/** The word for a trend: flat when even twice the error above the slope is within the limit. */
export function wordFor(name: string, trend: Trend | null | undefined): Word {
  const limit = LIMITS[name];
  if (limit === undefined || trend?.perHour == null || trend.error === null) return 'not judged';
  if (trend.perHour + trend.error <= limit) return 'flat';
  return trend.perHour > limit && trend.perHour > trend.error ? 'grows' : 'not certain';
}

/** Series that grew more than they may or were not read; nothing for a run that is too short to tell. */
export function growing(trends: Readonly<Record<string, Trend | null>>, minutes: number): string[] {
  if (minutes < JUDGED_MINUTES) return [];
  return Object.entries(LIMITS).flatMap(([name, limit]) => {
    const trend = trends[name];
    const word = wordFor(name, trend);
    if (word === 'not judged') return [`${name}: not read for long enough`];
    const figures = `${trend?.perHour ?? ''} an hour (± ${trend?.error ?? ''})`;
    return word === 'grows' ? [`${name}: ${figures}, more than ${limit}`] : [];
  });
}
