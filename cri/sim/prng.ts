import { fnv32a, fnv32aSeeded, fnv32aStep, mixed } from '../../machines/values/hash.ts';

/**
 * Randomness without state: each draw is a function of the seed and of what is drawn for. So one pod's
 * draws do not depend on the order in which calls of other pods happen to arrive.
 */

/** A number in [0, 1) for this seed and these parts. */
export function draw(seed: number, ...parts: (string | number)[]): number {
  let h = fnv32aSeeded(seed);
  for (const part of parts) {
    h = fnv32aStep(fnv32a(String(part), h), 0xff);
  }
  return mixed(h) / 0x1_0000_0000;
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
