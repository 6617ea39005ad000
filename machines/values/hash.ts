/** Where FNV-1a of 32 bits begins, and what each step multiplies by. */
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** One step of FNV-1a, 32 bit: what `hash` is after one more byte (or UTF-16 unit). A signed number. */
export function fnv32aStep(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, FNV_PRIME);
}

/**
 * FNV-1a, 32 bit, of a text's UTF-16 units (of its bytes when it is ASCII): 0 to 2^32 - 1.
 * @param start the hash of what came before, or a seed mixed into the offset by {@link fnv32aSeeded}
 */
export function fnv32a(text: string, start: number = FNV_OFFSET): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) hash = fnv32aStep(hash, text.charCodeAt(i));
  return hash >>> 0;
}

/** Where a hash with a seed begins, for {@link fnv32a}'s `start`. */
export function fnv32aSeeded(seed: number): number {
  return (FNV_OFFSET ^ seed) >>> 0;
}

/** FNV-1a, 32 bit, of a text's UTF-8 bytes, as Go's `hash/fnv` has it: 0 to 2^32 - 1. */
export function fnv32aOfBytes(text: string): number {
  let hash = FNV_OFFSET;
  for (const byte of utf8(text)) hash = fnv32aStep(hash, byte);
  return hash >>> 0;
}

/** Murmur3's finalizer, 0 to 2^32 - 1: FNV alone spreads its low bits badly. */
export function mixed(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** UTF-8 bytes of a text. */
export function utf8(text: string): number[] {
  const out: number[] = [];
  for (const c of text) {
    const code = c.codePointAt(0) ?? 0;
    if (code < 0x80) out.push(code);
    else if (code < 0x800) out.push(0xc0 | (code >> 6), 0x80 | (code & 0x3f));
    else if (code < 0x10000) out.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
    else {
      out.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 0x3f), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
    }
  }
  return out;
}
