/** Pause before the next try to connect, ms: doubles from 0.5 s up to 15 s, less up to a fifth so that tabs spread. */
export function retryDelay(failures, random) {
  var full = Math.min(15000, 500 * Math.pow(2, Math.min(failures, 10)));
  return Math.round(full * (1 - 0.2 * random));
}
