/** Types of families that have one number for each sample. */
export type FamilyType = 'counter' | 'gauge' | 'untyped';

/** `Content-Type` of the text format as Go's promhttp sends it. */
export const TEXT_FORMAT_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';

const LINES_PER_BLOCK = 512;

/**
 * Writes the Prometheus text format (version 0.0.4) with a timestamp for each sample, which prom-client cannot. Families
 * and samples come out in the order in which they were given; who gives a label an empty value finds it written (as Go's
 * client does).
 */
export class TextWriter {
  private readonly blocks: string[] = [];
  private lines: string[] = [];

  /** Starts a family: its HELP and TYPE lines. A family without samples must not be started. */
  family(name: string, help: string, type: FamilyType): void {
    this.put(`# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`);
  }

  /** One sample; labels in the order of the object's keys, `timestampMs` in ms since the epoch. */
  sample(name: string, labels: Readonly<Record<string, string>>, value: number, timestampMs?: number): void {
    this.line(name, labelText(labels), value, timestampMs);
  }

  /** One sample with labels that {@link labelText} has written before: they stay the same for many families. */
  line(name: string, labels: string, value: number, timestampMs?: number): void {
    const set = labels === '' ? '' : `{${labels}}`;
    const time = timestampMs === undefined ? '' : ` ${Math.trunc(timestampMs)}`;
    this.put(`${name}${set} ${sampleValue(value)}${time}\n`);
  }

  /** All that was written. */
  toString(): string {
    return this.blocks.join('') + this.lines.join('');
  }

  /** Joined now and then: a string put together by `+=` keeps all its pieces until it is read, several times its size. */
  private put(text: string): void {
    this.lines.push(text);
    if (this.lines.length < LINES_PER_BLOCK) return;
    this.blocks.push(this.lines.join(''));
    this.lines = [];
  }
}

/** `a="x",b="y"`, values escaped; without braces, so that more labels can be put behind. */
export function labelText(labels: Readonly<Record<string, string>>): string {
  let text = '';
  for (const name of Object.keys(labels)) {
    text += `${text === '' ? '' : ','}${name}="${escapeLabel(labels[name] ?? '')}"`;
  }
  return text;
}

/** A number as Go's text encoder writes it: the shortest form, below 1e-4 and from 1e6 on with an exponent of two digits. */
export function sampleValue(value: number): string {
  if (Number.isInteger(value) && value > -1e6 && value < 1e6) return Object.is(value, -0) ? '-0' : String(value);
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  if (Number.isNaN(value)) return 'NaN';
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e6) return String(value);
  const [digits, exponent] = value.toExponential().split('e') as [string, string];
  const sign = exponent.startsWith('-') ? '-' : '+';
  return `${digits}e${sign}${exponent.slice(1).padStart(2, '0')}`;
}

function escapeHelp(text: string): string {
  return /[\\\n]/.test(text) ? text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n') : text;
}

function escapeLabel(text: string): string {
  return /[\\\n"]/.test(text) ? text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"') : text;
}
