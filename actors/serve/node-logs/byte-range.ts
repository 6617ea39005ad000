/** A part of a file, bytes. */
export interface ByteRange {
  start: number;
  length: number;
}

/** What a `Range` header asks for; 'invalid' and 'outside' are answered with 416. */
export type Ranges = readonly ByteRange[] | 'invalid' | 'outside';

/** Reads a `Range` header as Go does; without header there are no ranges. */
export function parseRanges(header: string | undefined, size: number): Ranges {
  if (header === undefined || header === '') return [];
  if (!header.startsWith('bytes=')) return 'invalid';
  const ranges: ByteRange[] = [];
  let outside = false;
  for (const part of header.slice('bytes='.length).split(',')) {
    const text = part.trim();
    if (text === '') continue;
    const dash = text.indexOf('-');
    if (dash < 0) return 'invalid';
    const [from, to] = [text.slice(0, dash).trim(), text.slice(dash + 1).trim()];
    const last = to === '' ? size - 1 : position(to);
    if (from === '') {
      // The last bytes.
      if (to === '' || last === undefined) return 'invalid';
      const length = Math.min(last, size);
      ranges.push({ start: size - length, length });
      continue;
    }
    const start = position(from);
    if (start === undefined) return 'invalid';
    if (start >= size) {
      outside = true;
      continue;
    }
    if (last === undefined || start > last) return 'invalid';
    ranges.push({ start, length: Math.min(last, size - 1) - start + 1 });
  }
  if (outside && ranges.length === 0) return size === 0 ? [] : 'outside';
  // More than the whole file is an attack or a mistake.
  return ranges.reduce((sum, { length }) => sum + length, 0) > size ? [] : ranges;
}

/** `Content-Range` of a part. */
export function contentRange({ start, length }: ByteRange, size: number): string {
  return `bytes ${start}-${start + length - 1}/${size}`;
}

/** A position as int64; undefined when it is none. */
function position(text: string): number | undefined {
  if (!/^\+?[0-9]+$/.test(text) || BigInt(text.replace('+', '')) >= 2n ** 63n) return undefined;
  return Number(text);
}
