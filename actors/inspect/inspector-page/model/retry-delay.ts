import { backOffMs } from '../../../../machines/values/back-off.ts';

/** Pause before the next try to connect, ms: doubles from 0.5 s up to 15 s, less up to a fifth so that tabs spread. */
export function retryDelay(failures: number, random: number): number {
  return Math.round(backOffMs(failures + 1, { firstMs: 500, maxMs: 15_000 }) * (1 - 0.2 * random));
}
