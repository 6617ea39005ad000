const two = (n: number) => String(n).padStart(2, '0');

/** An age or a duration as kubectl writes it: `850ms`, `12s`, `3m20s`, `5h4m`, `2d7h`. Negative counts as 0. */
export function spanText(ms: number): string {
  if (!(ms > 0)) return '0s';
  if (ms < 1000) return `${String(Math.round(ms))}ms`;
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${String(s)}s`;
  const m = Math.floor(s / 60);
  if (m < 10) return s % 60 === 0 ? `${String(m)}m` : `${String(m)}m${String(s % 60)}s`;
  if (m < 60) return `${String(m)}m`;
  const h = Math.floor(m / 60);
  if (h < 24) return m % 60 === 0 ? `${String(h)}h` : `${String(h)}h${String(m % 60)}m`;
  const d = Math.floor(h / 24);
  return h % 24 === 0 || d > 9 ? `${String(d)}d` : `${String(d)}d${String(h % 24)}h`;
}

/** A measured duration: `0.4ms` is never shown as 0, seconds with two digits after the point. */
export function durationText(ms: number): string {
  if (ms < 1) return '<1ms';
  if (ms < 1000) return `${String(Math.round(ms))}ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(2)}s`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}s`;
  return spanText(ms);
}

/** Local time of day with milliseconds: `14:03:07.125`. */
export function timeText(at: number): string {
  const d = new Date(at);
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}.${String(d.getMilliseconds()).padStart(3, '0')}`;
}

/** Local date and time of day: `2026-03-01 14:03:07.125`. */
export function dateTimeText(at: number): string {
  const d = new Date(at);
  return `${String(d.getFullYear())}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${timeText(at)}`;
}

/** A count with thin spaces between groups of three: `100 000`. */
export function countText(n: number): string {
  return n.toLocaleString('en-US', { maximumFractionDigits: 20 }).replaceAll(',', '\u2009');
}

/** Length of a text or a document: `412 B`, `1.0 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${String(bytes)} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
