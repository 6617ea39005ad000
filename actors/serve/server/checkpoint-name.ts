/** Name of the file that a container's state is written to; `at` is ms since the epoch. */
export function checkpointName(namespace: string, pod: string, container: string, at: number): string {
  return `checkpoint-${pod}_${namespace}-${container}-${localTime(at)}.tar`;
}

/** What Go's ParseInt takes in base 10. */
export function isInt64(text: string): boolean {
  if (!/^[+-]?\d+$/.test(text)) return false;
  const value = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, value) === value;
}

/** In the machine's time zone with its offset, as kubelet names its files (RFC 3339). */
function localTime(ms: number): string {
  const east = -new Date(ms).getTimezoneOffset();
  const time = new Date(ms + east * 60_000).toISOString().slice(0, 19);
  if (east === 0) return `${time}Z`;
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${time}${east < 0 ? '-' : '+'}${two(Math.abs(east) / 60)}:${two(Math.abs(east) % 60)}`;
}
