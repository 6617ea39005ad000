import type { Curve } from './profile/profile-schema.ts';

/** What a curve says `ms` after its beginning. */
export function valueAt({ base, wave, period, grows, most }: Curve, ms: number): number {
  const turn = (2 * Math.PI * ms) / period;
  const value = base + (wave * (1 - Math.cos(turn))) / 2 + (grows * ms) / 60_000;
  return most === undefined ? value : Math.min(value, most);
}

/** The sum of all that a curve has said for `ms`: its values times seconds. With `most` no more than that all the time. */
export function sumUntil({ base, wave, period, grows, most }: Curve, ms: number): number {
  const turn = (2 * Math.PI * ms) / period;
  const ofWave = (wave / 2) * (ms - (period / (2 * Math.PI)) * Math.sin(turn));
  const sum = (base * ms + ofWave + (grows * ms * ms) / 120_000) / 1000;
  return most === undefined ? sum : Math.min(sum, (most * ms) / 1000);
}
