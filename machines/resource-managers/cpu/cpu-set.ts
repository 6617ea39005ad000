/** CPUs by their numbers. Never changed once it was handed out. */
export type CpuSet = ReadonlySet<number>;

/** No CPU at all. */
export const NO_CPUS: CpuSet = new Set();

/** Numbers in ascending order. */
export function sortedCpus(set: Iterable<number>): number[] {
  return [...set].sort((a, b) => a - b);
}

/** In the kernel's words: `0-3,8`; '' for none. */
export function cpuSetText(set: Iterable<number>): string {
  const parts: string[] = [];
  const all = sortedCpus(set);
  for (let i = 0; i < all.length; i++) {
    const first = all[i] ?? 0;
    while (all[i + 1] === (all[i] ?? 0) + 1) i++;
    const last = all[i] ?? 0;
    parts.push(first === last ? String(first) : `${first}-${last}`);
  }
  return parts.join(',');
}

/** No list names more: kernels have at most 8192 CPUs. */
const MOST = 65_536;

/** Thrown with Go's words, for what is no list of CPUs. */
export class CpuSetError extends Error {}

/**
 * Reads `0-3,8` as k8s.io/utils/cpuset does.
 *
 * @throws CpuSetError in its words
 */
export function parseCpuSetList(text: string): CpuSet {
  const out = new Set<number>();
  let named = 0;
  if (text === '') return out;
  for (const range of text.split(',')) {
    const cut = range.indexOf('-');
    if (cut < 0) {
      out.add(wholeNumber(range));
      continue;
    }
    const [first, last] = [wholeNumber(range.slice(0, cut)), wholeNumber(range.slice(cut + 1))];
    if (first > last) throw new CpuSetError(`invalid range "${range}" (${first} > ${last})`);
    named += last - first;
    if (named > MOST) throw new CpuSetError(`invalid range "${range}" (more than ${MOST} CPUs)`);
    for (let cpu = first; cpu <= last; cpu++) out.add(cpu);
  }
  return out;
}

function wholeNumber(text: string): number {
  if (/^[+-]?\d{1,18}$/.test(text)) return Number(text);
  throw new CpuSetError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
}

/** All that are in either. */
export function union(a: CpuSet, b: CpuSet): CpuSet {
  if (b.size === 0) return a;
  return a.size === 0 ? b : new Set([...a, ...b]);
}

/** All of `a` that are not in `b`. */
export function without(a: CpuSet, b: CpuSet): CpuSet {
  return b.size === 0 ? a : new Set([...a].filter((cpu) => !b.has(cpu)));
}

/** All that are in both. */
export function intersection(a: CpuSet, b: CpuSet): CpuSet {
  return new Set([...a].filter((cpu) => b.has(cpu)));
}

/** The same CPUs in both. */
export function sameCpus(a: CpuSet, b: CpuSet): boolean {
  return a.size === b.size && [...a].every((cpu) => b.has(cpu));
}
