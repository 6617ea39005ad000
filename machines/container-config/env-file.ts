import { byteText } from '../values/byte-text.ts';

/**
 * Bytes of the longest line that is read, without its `\n`. Kubelet reads by Go's bufio.Scanner, which holds at most
 * 64 KiB and must find the end of a line in that.
 */
export const MAX_LINE_BYTES = 64 * 1024 - 1;

/** What an env file says of the keys that were asked for. Values may be secret. */
export interface EnvFileContent {
  /** By key; null is a value that is no UTF-8. An empty one counts as none, as with kubelet. */
  values: ReadonlyMap<string, string | null>;
  /** Why the file was not read to its end: keys without a value may stand behind that. Names lines, never what they say. */
  fault?: string;
}

/**
 * Reads an env file (KEP-3721) as kubelet v1.35 does (`pkg/kubelet/util/env`): `NAME='value'`, where the value may go
 * over lines and nothing in it is replaced; blanks before a name, blank lines, and comments on lines of their own or
 * after a value. The first of a name counts. What is wrong in front of a name hides it, what comes after does not.
 *
 * It takes the file piece by piece, each byte as one character (`latin1`), so that a long one is never held as a whole.
 */
export class EnvFileParser {
  readonly #lines: Generator<undefined, EnvFileContent, Line>;
  #rest = '';
  #found: EnvFileContent | null = null;

  constructor(keys: Iterable<string>) {
    this.#lines = contentOf(new Map([...keys].map((key) => [byteText(key), key])));
    this.#take('');
  }

  /** Takes the next bytes. False: all is known, no more is needed. */
  push(bytes: string): boolean {
    const text = this.#rest + bytes;
    let start = 0;
    for (let end = 0; this.#found === null && (end = text.indexOf('\n', start)) >= 0; start = end + 1) {
      this.#line(text.slice(start, end));
    }
    this.#rest = text.slice(start);
    if (this.#rest.length > MAX_LINE_BYTES) this.#tooLong();
    return this.#found === null;
  }

  /** The file is over, or was not read further for this reason: then what is left is no whole line. */
  end(failure?: string): EnvFileContent {
    if (this.#rest !== '' && failure === undefined) this.#line(this.#rest);
    this.#rest = '';
    return this.#found ?? this.#take({ end: failure }) ?? { values: new Map() };
  }

  #line(line: string): void {
    if (line.length > MAX_LINE_BYTES) this.#tooLong();
    else this.#take(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  #tooLong(): void {
    this.#take({ end: `a line is longer than ${MAX_LINE_BYTES} bytes` });
  }

  #take(line: Line): EnvFileContent | null {
    if (this.#found !== null) return this.#found;
    const step = this.#lines.next(line);
    if (step.done === true) this.#found = step.value;
    return this.#found;
  }
}

/** A line without its end; or the end of all lines, with a reason when it came too early. */
type Line = string | { end: string | undefined };

/** `keys`: as bytes -> as asked for. */
function* contentOf(keys: Map<string, string>): Generator<undefined, EnvFileContent, Line> {
  const values = new Map<string, string | null>();
  const wrong = (line: number, what: string): EnvFileContent => ({
    values,
    fault: `invalid environment variable format at line ${line}: ${what}`,
  });
  const found = (name: string, value: string): void => {
    const key = keys.get(name);
    if (key !== undefined && !values.has(key)) values.set(key, textOf(value));
  };
  let number = 0;
  while (values.size < keys.size) {
    const given = yield;
    if (typeof given !== 'string')
      return given.end === undefined ? { values } : { values, fault: `after line ${number}: ${given.end}` };
    number++;
    const line = withoutBlanks(given);
    if (line === '' || line.startsWith('#')) continue;
    const equals = line.indexOf('=');
    if (equals < 0) return wrong(number, "missing '='");
    const name = line.slice(0, equals);
    if (name === '') return wrong(number, 'empty variable name');
    if (/[ \t]$/.test(name)) return wrong(number, "whitespace before '=' is not allowed");
    let rest = line.slice(equals + 1);
    if (/^[ \t]/.test(rest)) {
      // As a shell takes it: an empty value, whatever follows.
      found(name, '');
      continue;
    }
    if (!rest.startsWith("'")) return wrong(number, 'value must be enclosed in single quotes');
    rest = rest.slice(1);
    const first = number;
    const wanted = keys.has(name);
    const parts: string[] = [];
    let close: number;
    while ((close = rest.indexOf("'")) < 0) {
      if (wanted) parts.push(rest);
      const next = yield;
      if (typeof next !== 'string') {
        const fault = `invalid environment variable format starting at line ${first}: unclosed single quote`;
        return { values, fault };
      }
      number++;
      rest = next;
    }
    parts.push(rest.slice(0, close));
    const after = withoutBlanks(rest.slice(close + 1));
    if (after !== '' && !after.startsWith('#')) return wrong(number, 'unexpected content after closing quote');
    found(name, parts.join('\n'));
  }
  return { values };
}

function withoutBlanks(text: string): string {
  return text.replace(/^[ \t]+/, '');
}

/** The text that bytes are, or null. */
function textOf(bytes: string): string | null {
  try {
    const array = Uint8Array.from(bytes, (byte) => byte.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(array);
  } catch {
    return null;
  }
}
