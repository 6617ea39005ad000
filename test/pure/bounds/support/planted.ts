/** Faults that the measuring must find. */
import type { Place } from './place.ts';

const planted = (name: string, read: Place['read']): Place => ({
  ...{ name, channel: 'none', thread: 'main', read },
  // What is too slow with this much takes a minute with 1 MiB.
  largest: 512 * 1024,
});

export const places: readonly Place[] = [
  planted('linear', (text) => text.split('\n').map((line) => line.trim())),
  planted('quadratic expression', (text) => /\s+$/.test(text)),
  planted('exponential expression', (text) => /^(a+)+$/.test(text)),
  planted('quadratic search', (text) => {
    for (let at = text.indexOf('$('); at >= 0; at = text.indexOf('$(', at + 1)) if (text.indexOf(')', at) >= 0) return;
  }),
  planted('deep recursion', (text) => depth(JSON.parse(text))),
  planted('memory', (text) => Array.from({ length: 400 }, () => text.split(''))),
];

function depth(value: unknown): number {
  return typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
}
