/** Pause before the next try to connect, ms: doubles from 0.5 s up to 15 s, less up to a fifth so that tabs spread. */
export function retryDelay(failures: number, random: number): number {
  const full = Math.min(15_000, 500 * 2 ** Math.min(failures, 10));
  return Math.round(full * (1 - 0.2 * random));
}
