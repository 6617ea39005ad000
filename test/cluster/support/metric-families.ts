/** One family of the text format as a scrape shows it. */
export interface Family {
  name: string;
  type: string;
  /** Names of all labels of its samples, sorted; `le` and `quantile` left out. */
  labels: string[];
  /** Upper bounds of a histogram, +Inf left out. */
  buckets?: number[];
}

/** One sample of the text format. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: (-?\d+))?$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** All samples. Throws on a line that is none. */
export function samplesOf(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const found = LINE.exec(line);
      if (found === null) throw new Error(`no sample of the text format: ${line}`);
      const labels: Record<string, string> = {};
      for (const [, name = '', value = ''] of (found[2] ?? '').matchAll(LABEL)) labels[name] = value;
      return { name: found[1] ?? '', labels, value: numberOf(found[3] ?? '') };
    });
}

/** Families that have at least one sample, by name. Throws when samples stand under no TYPE line. */
export function familiesOf(text: string): Map<string, Family> {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]));
  const seen = new Map<string, { labels: Set<string>; buckets: Set<number> }>();
  for (const { name, labels } of samplesOf(text)) {
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    if (!types.has(family)) throw new Error(`${name} has no TYPE`);
    const entry = seen.get(family) ?? { labels: new Set<string>(), buckets: new Set<number>() };
    seen.set(family, entry);
    for (const label of Object.keys(labels)) if (label !== 'le' && label !== 'quantile') entry.labels.add(label);
    const bound = numberOf(labels['le'] ?? 'NaN');
    if (Number.isFinite(bound)) entry.buckets.add(bound);
  }
  return new Map(
    [...seen]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { labels, buckets }]) => {
        const type = types.get(name) ?? '';
        const family: Family = { name, type, labels: [...labels].sort() };
        if (type === 'histogram') family.buckets = [...buckets].sort((a, b) => a - b);
        return [name, family];
      }),
  );
}

function numberOf(text: string): number {
  if (text === '+Inf') return Infinity;
  return text === '-Inf' ? -Infinity : Number(text);
}
