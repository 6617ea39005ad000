/**
 * Randomness without state: each draw is a function of the seed and of what is drawn for. So one pod's
 * draws do not depend on the order in which calls of other pods happen to arrive.
 */

/** A number in [0, 1) for this seed and these parts. */
export function draw(seed: number, ...parts: (string | number)[]): number {
  let h = (0x811c9dc5 ^ seed) >>> 0;
  for (const part of parts) {
    const text = typeof part === 'number' ? String(part) : part;
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
    h = Math.imul(h ^ 0xff, 0x01000193);
  }
  return mix(h) / 0x1_0000_0000;
}

/** A draw, evenly spread over [min, max]. */
export function drawBetween(range: { min: number; max: number }, seed: number, ...parts: (string | number)[]): number {
  if (range.max === range.min) return range.min;
  return range.min + draw(seed, ...parts) * (range.max - range.min);
}

/** 64 hexadecimal digits, the length of containerd's ids and of a sha256. */
export function hexId(seed: number, ...parts: (string | number)[]): string {
  let out = '';
  for (let i = 0; i < 8; i++) {
    out += Math.floor(draw(seed, i, ...parts) * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  }
  return out;
}

/** Murmur3's finalizer: FNV alone spreads its low bits badly. */
function mix(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
