/** A moment of a log line. */
export interface Stamp {
  /** Seconds since 1970, may be negative. */
  seconds: number;
  /** 0 to 999,999,999. */
  nanos: number;
}

/** The zero time of Go: before every log line. */
export const ZERO_STAMP: Stamp = { seconds: -62135596800, nanos: 0 };

/** Longest output of {@link writeStamp}: `2006-01-02T15:04:05.000000000+07:00`. */
export const STAMP_BYTES = 35;

const ZERO = 0x30;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Reads `2006-01-02T15:04:05[.999999999](Z|+07:00)` as Go's lenient RFC 3339 layout takes it, from bytes.
 * @returns false when the bytes are no such time; `into` is then of no use
 */
export function readStamp(bytes: Uint8Array, from: number, to: number, into: Stamp): boolean {
  if (to - from < 20) return false;
  const year = digits(bytes, from, 4);
  const month = digits(bytes, from + 5, 2);
  const day = digits(bytes, from + 8, 2);
  const hour = digits(bytes, from + 11, 2);
  const minute = digits(bytes, from + 14, 2);
  const second = digits(bytes, from + 17, 2);
  if (
    bytes[from + 4] !== 0x2d ||
    bytes[from + 7] !== 0x2d ||
    bytes[from + 10] !== 0x54 ||
    bytes[from + 13] !== 0x3a ||
    bytes[from + 16] !== 0x3a
  )
    return false;
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return false;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return false;

  let at = from + 19;
  let nanos = 0;
  if (bytes[at] === 0x2e || bytes[at] === 0x2c) {
    const end = fractionEnd(bytes, at + 1, to);
    if (end === at + 1) return false;
    for (let index = 0; index < 9; index++) {
      const place = at + 1 + index;
      nanos = nanos * 10 + (place < end ? (bytes[place] ?? ZERO) - ZERO : 0);
    }
    at = end;
  }
  const offset = offsetSeconds(bytes, at, to);
  if (offset === undefined) return false;
  into.seconds = daysSince1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset;
  into.nanos = nanos;
  return true;
}

/** Is `a` before `b`? */
export function isBefore(a: Stamp, b: Stamp): boolean {
  return a.seconds < b.seconds || (a.seconds === b.seconds && a.nanos < b.nanos);
}

/**
 * Writes a time that {@link readStamp} took with nine digits of fraction, in its own zone, to `out` from `position`.
 * @returns the position after it
 */
export function writeStamp(bytes: Uint8Array, from: number, to: number, out: Uint8Array, position: number): number {
  for (let index = 0; index < 19; index++) out[position + index] = bytes[from + index] ?? 0;
  let at = from + 19;
  let place = position + 19;
  out[place++] = 0x2e;
  const hasFraction = bytes[at] === 0x2e || bytes[at] === 0x2c;
  const end = hasFraction ? fractionEnd(bytes, at + 1, to) : at;
  for (let index = 0; index < 9; index++) {
    const source = at + 1 + index;
    out[place++] = source < end ? (bytes[source] ?? ZERO) : ZERO;
  }
  at = end;
  if (offsetSeconds(bytes, at, to) === 0) {
    out[place++] = 0x5a;
    return place;
  }
  while (at < to) out[place++] = bytes[at++] ?? 0;
  return place;
}

function fractionEnd(bytes: Uint8Array, from: number, to: number): number {
  let end = from;
  while (end < to && isDigit(bytes[end])) end++;
  return end;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= 0x39;
}

/** -1 when not all are digits. */
function digits(bytes: Uint8Array, from: number, count: number): number {
  let value = 0;
  for (let index = from; index < from + count; index++) {
    const digit = (bytes[index] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** Offset from UTC of `Z` or `+07:00`, which must be all that is left; undefined when it is neither. */
function offsetSeconds(bytes: Uint8Array, from: number, to: number): number | undefined {
  if (to - from === 1 && bytes[from] === 0x5a) return 0;
  const sign = bytes[from] === 0x2b ? 1 : bytes[from] === 0x2d ? -1 : 0;
  if (sign === 0 || to - from !== 6 || bytes[from + 3] !== 0x3a) return undefined;
  const hours = digits(bytes, from + 1, 2);
  const minutes = digits(bytes, from + 4, 2);
  if (hours < 0 || hours > 24 || minutes < 0 || minutes > 60) return undefined;
  // Of two zeros only the positive one compares equal everywhere.
  return sign * (hours * 3600 + minutes * 60) + 0;
}

function daysOf(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && leap ? 29 : (MONTH_DAYS[month - 1] ?? 0);
}

/** Days of the proleptic Gregorian calendar, counted in eras of 400 years that begin in March. */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146097 + dayOfEra - 719468;
}
