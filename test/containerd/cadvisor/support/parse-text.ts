/** One sample of a page in the text format. */
export interface Sample {
  name: string;
  /** Names in the order in which they stand. */
  labelNames: string[];
  labels: Record<string, string>;
  value: number;
  /** ms since the epoch. */
  at?: number;
}

/** A family as its lines tell it. */
export interface Family {
  name: string;
  help: string;
  type: string;
  labels: string[];
  timestamp: boolean;
}

/** Parses a page; throws on a line it does not understand, and on a series that comes twice. */
export function parseText(text: string): { samples: Sample[]; families: Family[] } {
  const samples: Sample[] = [];
  const families: Family[] = [];
  const series = new Set<string>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const help = /^# HELP (\w+) (.*)$/.exec(line);
    const type = /^# TYPE \w+ (\w+)$/.exec(line);
    const last = families.at(-1);
    if (help !== null) {
      families.push({ name: help[1] ?? '', help: help[2] ?? '', type: '', labels: [], timestamp: false });
    } else if (type !== null && last !== undefined) {
      last.type = type[1] ?? '';
    } else {
      const found = /^(\w+)(\{.*\})? (\S+)(?: (\d+))?$/.exec(line);
      if (found === null || last === undefined || found[1] !== last.name) throw new Error(`not understood: ${line}`);
      const [, name = '', set = '', value = '', at] = found;
      if (series.has(name + set)) throw new Error(`twice: ${name}${set}`);
      series.add(name + set);
      const pairs = [...set.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
        ([, key = '', text = '']) => [key, text] as const,
      );
      const labelNames = pairs.map(([key]) => key);
      samples.push({
        ...{ name, labelNames, labels: Object.fromEntries(pairs), value: Number(value) },
        ...(at === undefined ? {} : { at: Number(at) }),
      });
      last.labels = labelNames;
      last.timestamp = at !== undefined;
    }
  }
  return { samples, families };
}
