import { fnv32a, fnv32aStep } from './hash.ts';

/** A fingerprint on its way: two FNV-1a runs of 32 bits and the number of UTF-16 units so far. */
export interface Printing {
  readonly a: number;
  readonly b: number;
  readonly length: number;
}

const NOTHING: Printing = { a: fnv32a('') | 0, b: 0x01000193, length: 0 };

/** Goes on with `text` after `before`. */
export function printing(text: string, before: Printing = NOTHING): Printing {
  let { a, b } = before;
  const { length } = text;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    a = fnv32aStep(a, code);
    b = (Math.imul(b ^ code, 0x85ebca6b | 0) ^ (b >>> 13)) | 0;
  }
  return { a, b, length: before.length + length };
}

/** The fingerprint of all that was {@link printing}. */
export function printed({ a, b, length }: Printing): string {
  return `${(a >>> 0).toString(16)}-${(b >>> 0).toString(16)}-${length}`;
}

/** A short fingerprint of a text: tells change from no change, nothing else. */
export function fingerprint(text: string): string {
  return printed(printing(text));
}
