const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;

/** A duration as Go writes it (`1m0s`, `300ms`, `-1.5h`, `0`) in milliseconds; undefined when it is none. */
export function parseGoDuration(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  const signed = text.startsWith('-') || text.startsWith('+');
  let nanoseconds = 0;
  let end = signed ? 1 : 0;
  // One part after the other, each where the last one ended: nothing is looked at twice.
  do {
    PART.lastIndex = end;
    const [part, number = '0', unit = 's'] = PART.exec(text) ?? [];
    if (part === undefined) return undefined;
    nanoseconds += Number(number) * Math.round((UNIT_MS[unit] ?? 0) * 1e6);
    end += part.length;
  } while (end < text.length);
  const ms = Math.round(nanoseconds) / 1e6;
  return text.startsWith('-') && ms !== 0 ? -ms : ms;
}

/** Milliseconds as Go's `Duration.String` writes them: `1m0s`, `100ms`, `1.5s`, `0s`. Kubelet's messages carry this form. */
export function goDuration(ms: number): string {
  if (ms === 0) return '0s';
  const sign = ms < 0 ? '-' : '';
  const size = Math.abs(ms);
  if (size < 1e-3) return `${sign}${round(size * 1e6)}ns`;
  if (size < 1) return `${sign}${round(size * 1e3)}µs`;
  if (size < 1000) return `${sign}${round(size)}ms`;
  const hours = Math.floor(size / 3_600_000);
  const minutes = Math.floor((size % 3_600_000) / 60_000);
  const seconds = `${round((size % 60_000) / 1000)}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}

function round(value: number): string {
  return String(Number(value.toFixed(9)));
}
