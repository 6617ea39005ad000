/** A span of time as people say it: `0.4 s`, `40 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function span(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < 10_000) return `${Math.round(whole / 100) / 10} s`;
  const s = Math.round(whole / 1000);
  if (s < 120) return `${s} s`;
  if (s < 7200) return two(Math.floor(s / 60), 'min', s % 60, 's');
  if (s < 172_800) return two(Math.floor(s / 3600), 'h', Math.floor((s % 3600) / 60), 'min');
  return two(Math.floor(s / 86_400), 'd', Math.floor((s % 86_400) / 3600), 'h');
}

function two(a: number, unit: string, b: number, small: string): string {
  return b === 0 ? `${a} ${unit}` : `${a} ${unit} ${b} ${small}`;
}

/** A moment: `2026-11-21T09:40:05Z`. */
export function moment(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** `3 times`, `once`. */
export function times(count: number): string {
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`;
}
