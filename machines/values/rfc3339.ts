/** Times of the last seconds that were asked for: a status names the same few again and again. */
const seconds = new Array<number>(256).fill(Number.NaN);
const texts = new Array<string>(256).fill('');

/** Milliseconds since the epoch as the API writes a time: UTC, whole seconds. */
export function rfc3339(ms: number): string {
  const second = Math.floor(ms / 1000);
  const slot = second & 255;
  const known = texts[slot];
  if (seconds[slot] === second && known !== undefined) return known;
  const text = `${new Date(ms).toISOString().slice(0, 19)}Z`;
  seconds[slot] = second;
  texts[slot] = text;
  return text;
}
