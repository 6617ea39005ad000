const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** A qualified name (label or taint key): at most 63 characters, with an optional DNS subdomain and a slash before it. */
export function isQualifiedName(text: string): boolean {
  const parts = text.split('/');
  const [prefix, name] = parts.length === 2 ? parts : [undefined, parts[0]];
  if (parts.length > 2 || name === undefined || !NAME.test(name)) return false;
  return prefix === undefined || (prefix.length <= 253 && SUBDOMAIN.test(prefix));
}

/** A label's value: empty, or at most 63 letters, digits, `-`, `_`, `.`, with a letter or digit at both ends. */
export function isLabelValue(text: string): boolean {
  return text === '' || NAME.test(text);
}

/** A list of CPUs such as `0-3,8`, as Linux writes it; undefined when it is none. */
export function parseCpuSet(text: string): number[] | undefined {
  const cpus = new Set<number>();
  if (text === '') return [];
  for (const part of text.split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!match) return undefined;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (first > last || last > 65_535) return undefined;
    for (let cpu = first; cpu <= last; cpu++) cpus.add(cpu);
  }
  return [...cpus].sort((a, b) => a - b);
}
