import { goJson } from '../../../machines/container-config/go-json.ts';
import { goQuote } from '../../../machines/values/go-quote.ts';
import { firstValue } from '../server/go-query.ts';
import { isBefore, readStamp } from '../container-logs/stamp.ts';
import type { Stamp } from '../container-logs/stamp.ts';

/** A log query (KEP-2258): which services or which file, and what of it. */
export interface NodeLogQuery {
  services: string[];
  files: string[];
  /** RFC 3339, as it came. */
  sinceTime?: string;
  /** RFC 3339, as it came. */
  untilTime?: string;
  tailLines?: number;
  /** 0 is this boot, -1 the one before. */
  boot?: number;
  /** Regular expression; '' matches all. */
  pattern: string;
}

const MOST_TAIL_LINES = 100_000;
const LONGEST_SERVICE = 256;
const MOST_SERVICES = 4;
/**
 * Longest text of a query, characters. Names and times are shorter, and no argument of a program may have more than
 * 128 KiB; expressions of that length would hold the server's thread while they are read.
 */
const LONGEST_TEXT = 16 * 1024;

/** Reads the query of `/logs/`. `query` is undefined when it holds nothing of a log query: then a file is meant. */
export function parseNodeLogQuery(values: ReadonlyMap<string, readonly string[]>): {
  query?: NodeLogQuery;
  problems: string[];
} {
  for (const name of ['query', 'pattern', 'sinceTime', 'untilTime', 'boot', 'tailLines']) {
    const size = (values.get(name) ?? []).reduce((sum, text) => sum + text.length, 0);
    if (size > LONGEST_TEXT) return { problems: [`${name}: Too long: may not be more than ${LONGEST_TEXT} bytes`] };
  }
  const problems: string[] = [];
  const query: NodeLogQuery = { services: [], files: [], pattern: firstValue(values, 'pattern') };
  const queries = values.get('query');
  for (const one of queries ?? []) {
    if (/[/\\]/.test(one)) query.files.push(one);
    else if (one.trim() !== '') query.services.push(one);
  }
  if (queries !== undefined && query.files.length + query.services.length === 0)
    problems.push(invalid('query', goJson(queries), 'may not be empty'));
  for (const name of ['sinceTime', 'untilTime'] as const) {
    const text = firstValue(values, name);
    if (text === '') continue;
    if (stampOf(text) === undefined) problems.push(invalid(name, goQuote(text), 'invalid time format'));
    else query[name] = text;
  }
  for (const name of ['boot', 'tailLines'] as const) {
    const text = firstValue(values, name);
    if (text === '') continue;
    const problem = atoiProblem(text);
    if (problem === '') query[name] = Number(text);
    else problems.push(invalid(name, goQuote(text), `strconv.Atoi: parsing ${goQuote(text)}: ${problem}`));
  }
  const empty = query.files.length + query.services.length === 0 && !hasOptions(query);
  return problems.length > 0 || empty ? { problems } : { query, problems };
}

/** Is anything asked for besides services and files? */
export function hasOptions({ sinceTime, untilTime, tailLines, boot, pattern }: NodeLogQuery): boolean {
  return pattern !== '' || [sinceTime, untilTime, tailLines, boot].some((value) => value !== undefined);
}

/**
 * What is wrong with a query, in the kubelet's words.
 * @param statFile the error of looking at a file below /var/log, '' when it is there
 */
export async function validateNodeLogQuery(query: NodeLogQuery, statFile: (path: string) => string): Promise<string[]> {
  const { services, files, sinceTime, untilTime, tailLines, boot, pattern } = query;
  const problems: string[] = [];
  for (const service of services) {
    const problem = serviceProblem(service);
    if (problem !== '') problems.push(invalid('query', goQuote(service), problem));
  }
  if (services.length > MOST_SERVICES)
    problems.push(`query: Too many: ${services.length}: must have at most ${MOST_SERVICES} items`);
  const [file] = files;
  if (file === undefined) {
    if (services.length === 0) problems.push('query: Required value: cannot be empty with options');
  } else if (services.length > 0)
    problems.push(
      invalid('query', goQuote(`[${files.join(' ')}], [${services.join(' ')}]`), 'cannot specify a file and service'),
    );
  else if (files.length > 1) problems.push(invalid('query', goJson(files), 'cannot specify more than one file'));
  else if (hasOptions(query)) problems.push(invalid('query', goJson(files), 'cannot specify file with options'));
  else {
    const problem = statFile(file);
    if (problem !== '') problems.push(invalid('query', goJson(files), problem));
  }
  const since = stampOf(sinceTime ?? '');
  const until = stampOf(untilTime ?? '');
  if (since !== undefined && until !== undefined && isBefore(until, since))
    problems.push(invalid('untilTime', goJson(untilTime), 'must be after `sinceTime`'));
  if (boot !== undefined && boot > 0) problems.push(invalid('boot', String(boot), 'must be less than 1'));
  if (tailLines !== undefined && (tailLines < 0 || tailLines > MOST_TAIL_LINES))
    problems.push(invalid('tailLines', String(tailLines), `must be between 0 and ${MOST_TAIL_LINES}, inclusive`));
  const syntax = await re2Problem(pattern);
  if (syntax !== '') problems.push(invalid('pattern', goQuote(pattern), syntax));
  return problems;
}

/**
 * Arguments of journalctl for a query.
 * @param services those that log to the journal
 */
export function journalArguments(query: NodeLogQuery, services: readonly string[]): string[] {
  const { sinceTime, untilTime, tailLines, boot, pattern } = query;
  const list = ['--utc', '--no-pager', '--output=short-precise'];
  if (sinceTime !== undefined) list.push(`--since=${journalTime(sinceTime)}`);
  if (untilTime !== undefined) list.push(`--until=${journalTime(untilTime)}`);
  if (tailLines !== undefined) list.push('--pager-end', `--lines=${tailLines}`);
  for (const service of services) list.push(`--unit=${service}`);
  if (pattern !== '') list.push(`--grep=${pattern}`);
  if (boot !== undefined) list.push('--boot', String(boot));
  return list;
}

/** Go's layout `2006-1-2 15:4:5`: the hour has two digits, the rest as many as needed; the zone is left out. */
function journalTime(text: string): string {
  const [, year, month, day, hour, minute, second] = /^(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)/.exec(text) ?? [];
  return `${year}-${Number(month)}-${Number(day)} ${hour}:${Number(minute)}:${Number(second)}`;
}

function serviceProblem(service: string): string {
  // The kubelet names another number than it compares with.
  if (Buffer.byteLength(service) > LONGEST_SERVICE) return 'length must be less than 100';
  return /[^a-zA-Z\-_.:0-9@]/.test(service) ? 'input contains unsupported characters' : '';
}

function invalid(field: string, value: string, detail: string): string {
  return `${field}: Invalid value: ${value}: ${detail}`;
}

function stampOf(text: string): Stamp | undefined {
  const bytes = Buffer.from(text);
  const stamp: Stamp = { seconds: 0, nanos: 0 };
  return readStamp(bytes, 0, bytes.length, stamp) ? stamp : undefined;
}

function atoiProblem(text: string): string {
  if (!/^[+-]?[0-9]+$/.test(text)) return 'invalid syntax';
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value >= 2n ** 63n || value < -(2n ** 63n) ? 'value out of range' : '';
}

/**
 * Checks a regular expression as Go's `regexp/syntax` does with its Perl flags (RE2: no look-around, no back references), since
 * the kubelet refuses a `pattern` that this parser refuses. Its port is loaded at the first question: few nodes are ever asked.
 * @returns `error parsing regexp: ...` in Go's words, or '' when the pattern is good
 */
export async function re2Problem(pattern: string): Promise<string> {
  if (pattern === '') return '';
  const { RE2JS, RE2JSSyntaxException } = await import('re2js');
  try {
    RE2JS.compile(pattern);
    return '';
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    // Go names the part that is wrong even where there is none, as after a backslash at the end.
    return error.message.endsWith('`') ? error.message : `${error.message}: \`\``;
  }
}
