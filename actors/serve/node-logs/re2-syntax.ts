/**
 * Checks a regular expression as Go's `regexp/syntax` does with its Perl flags (RE2, so no look-around and no back
 * references), since the kubelet refuses a `pattern` that this parser refuses.
 * @returns `error parsing regexp: ...` in Go's words, or '' when the pattern is good
 */
export function re2Problem(pattern: string): string {
  try {
    new Re2Check(pattern).run();
    return '';
  } catch (error) {
    if (error instanceof Re2Error) return `error parsing regexp: ${error.message}`;
    throw error;
  }
}

class Re2Error extends Error {
  constructor(problem: string, part: string) {
    super(`${problem}: \`${part}\``);
  }
}

const MOST_REPEATS = 1000;
const posixNames = /^\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]$/;

/** What stands in an open group: is there something to repeat, and how often is it repeated already? */
interface Level {
  operand: boolean;
  /** Product of the nested counts of the last operand, and the largest of the group. */
  times: number;
  most: number;
}

class Re2Check {
  readonly #text: string;
  #at = 0;
  readonly #levels: Level[] = [{ operand: false, times: 1, most: 1 }];
  /** Where the repetition began that ends here; -1 when none does. */
  #lastRepeat = -1;

  constructor(text: string) {
    this.#text = text;
  }

  run(): void {
    while (this.#at < this.#text.length) {
      const from = this.#at;
      const repeated = this.#step(this.#text.charAt(from));
      this.#lastRepeat = repeated ? from : -1;
    }
    if (this.#levels.length > 1) throw new Re2Error('missing closing )', this.#text);
  }

  get #level(): Level {
    return this.#levels.at(-1) ?? { operand: false, times: 1, most: 1 };
  }

  /** One element; true when it was a repetition. */
  #step(char: string): boolean {
    const text = this.#text;
    switch (char) {
      case '(':
        if (text.startsWith('(?', this.#at)) this.#flags();
        else this.#open(1);
        return false;
      case ')':
        this.#close();
        return false;
      case '|':
        this.#level.operand = false;
        this.#at++;
        return false;
      case '[':
        this.#class();
        this.#operand();
        return false;
      case '*':
      case '+':
      case '?':
        this.#repeat(this.#at + 1, 1);
        return true;
      case '{': {
        const count = /^\{(0|[1-9][0-9]*)(,(0|[1-9][0-9]*)?)?\}/.exec(text.slice(this.#at));
        if (count === null) break;
        const least = Number(count[1]);
        const most = count[3] === undefined ? (count[2] === undefined ? least : -1) : Number(count[3]);
        if (least > MOST_REPEATS || most > MOST_REPEATS || (most >= 0 && least > most))
          throw new Re2Error('invalid repeat count', count[0]);
        this.#repeat(this.#at + count[0].length, most < 0 ? least : most);
        return true;
      }
      case '\\':
        this.#escape();
        this.#operand();
        return false;
    }
    this.#at += String.fromCodePoint(text.codePointAt(this.#at) ?? 0).length;
    this.#operand();
    return false;
  }

  #operand(): void {
    const level = this.#level;
    level.operand = true;
    level.times = 1;
  }

  #open(length: number): void {
    this.#at += length;
    this.#levels.push({ operand: false, times: 1, most: 1 });
  }

  #close(): void {
    const inner = this.#levels.pop();
    if (inner === undefined || this.#levels.length === 0) throw new Re2Error('unexpected )', this.#text);
    this.#at++;
    this.#operand();
    this.#level.times = inner.most;
  }

  #repeat(end: number, count: number): void {
    const from = this.#at;
    const text = this.#text;
    // `a*?` prefers fewer; it is one operator.
    const after = text.charAt(end) === '?' ? end + 1 : end;
    if (this.#lastRepeat >= 0)
      throw new Re2Error('invalid nested repetition operator', text.slice(this.#lastRepeat, after));
    const level = this.#level;
    if (!level.operand) throw new Re2Error('missing argument to repetition operator', text.slice(from, after));
    level.times *= Math.max(count, 1);
    if (count >= 2 && level.times > MOST_REPEATS) throw new Re2Error('invalid repeat count', text.slice(from, after));
    level.most = Math.max(level.most, level.times);
    this.#at = after;
  }

  /** `(?i)`, `(?i:`, `(?P<name>` and `(?<name>`. */
  #flags(): void {
    const rest = this.#text.slice(this.#at);
    if (/^\(\?P?</.test(rest)) {
      const named = /^\(\?P?<([^>]*)>/.exec(rest);
      if (named === null) throw new Re2Error('invalid named capture', rest);
      if (!/^[A-Za-z0-9_]+$/.test(named[1] ?? '')) throw new Re2Error('invalid named capture', named[0]);
      this.#open(named[0].length);
      return;
    }
    const flags = /^\(\?(?:[imsU]*(?:-[imsU]+)?)([:)])/.exec(rest);
    if (flags === null) {
      const bad = /^\(\?[imsU]*(?:-[imsU]*)?[^]?/u.exec(rest);
      throw new Re2Error('invalid or unsupported Perl syntax', bad?.[0] ?? rest);
    }
    if (flags[1] === ':') this.#open(flags[0].length);
    else this.#at += flags[0].length;
  }

  #class(): void {
    const from = this.#at;
    const text = this.#text;
    const unclosed = (): Re2Error => new Re2Error('missing closing ]', text.slice(from));
    this.#at++;
    if (text.charAt(this.#at) === '^') this.#at++;
    for (let first = true; first || text.charAt(this.#at) !== ']'; first = false) {
      if (this.#at >= text.length) throw unclosed();
      const rest = text.slice(this.#at);
      const posix = /^\[:[^]*?:\]/.exec(rest)?.[0];
      if (posix !== undefined) {
        if (!posixNames.test(posix)) throw new Re2Error('invalid character class range', posix);
        this.#at += posix.length;
        continue;
      }
      if (/^\\[dswDSWpP]/.test(rest)) {
        this.#escape();
        continue;
      }
      const start = this.#at;
      const low = this.#classChar(unclosed);
      if (text.charAt(this.#at) !== '-' || text.charAt(this.#at + 1) === ']' || this.#at + 1 >= text.length) continue;
      this.#at++;
      const high = this.#classChar(unclosed);
      if (high < low) throw new Re2Error('invalid character class range', text.slice(start, this.#at));
    }
    this.#at++;
  }

  #classChar(unclosed: () => Re2Error): number {
    const code = this.#text.codePointAt(this.#at);
    if (code === undefined) throw unclosed();
    if (code === 0x5c) return this.#escapedChar();
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  /** `\d`, `\pL`, `\Q...\E`, `\b` and single characters. */
  #escape(): void {
    const rest = this.#text.slice(this.#at);
    const next = rest.charAt(1);
    if (next === 'Q') {
      const end = rest.indexOf('\\E', 2);
      this.#at += end < 0 ? rest.length : end + 2;
    } else if (next !== '' && 'AbBzdswDSW'.includes(next)) this.#at += 2;
    else if (next === 'p' || next === 'P') {
      const property = /^\\[pP](?:\{\^?([^}]*)\}|([^{]))/u.exec(rest);
      if (property === null) throw new Re2Error('invalid character class range', rest);
      if (!isProperty(property[1] ?? property[2] ?? ''))
        throw new Re2Error('invalid character class range', property[0]);
      this.#at += property[0].length;
    } else this.#escapedChar();
  }

  #escapedChar(): number {
    const rest = this.#text.slice(this.#at);
    if (rest.length === 1) throw new Re2Error('trailing backslash at end of expression', '');
    const octal = /^\\(0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest);
    const hex = /^\\x(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2}))/.exec(rest);
    const code =
      octal !== null ? parseInt(octal[1] ?? '', 8) : hex !== null ? parseInt(hex[1] ?? hex[2] ?? '', 16) : -1;
    const length = octal?.[0].length ?? hex?.[0].length ?? 2;
    if (code >= 0 && code <= 0x10ffff) {
      this.#at += length;
      return code;
    }
    const char = rest.charAt(1);
    const control = 'afnrtv'.indexOf(char);
    if (control >= 0 || /^[\0-\x7f]$/.test(char)) {
      if (control < 0 && /[A-Za-z0-9]/.test(char)) throw new Re2Error('invalid escape sequence', badEscape(rest));
      this.#at += 2;
      return control < 0 ? char.charCodeAt(0) : ([7, 12, 10, 13, 9, 11][control] ?? 0);
    }
    throw new Re2Error('invalid escape sequence', badEscape(rest));
  }
}

/** As much of an escape as Go had read when it gave up. */
function badEscape(rest: string): string {
  const hex = /^\\x\{([0-9a-fA-F]*)/.exec(rest);
  if (hex === null) return /^\\x[^]{0,2}|^\\[^]/u.exec(rest)?.[0] ?? rest;
  for (let length = 1; length <= (hex[1]?.length ?? 0); length++)
    if (parseInt(hex[1]?.slice(0, length) ?? '', 16) > 0x10ffff) return rest.slice(0, 3 + length);
  return rest.slice(0, hex[0].length + 1);
}

function isProperty(name: string): boolean {
  if (name === 'Any') return true;
  if (!/^[A-Za-z_]+$/.test(name)) return false;
  for (const source of [`\\p{gc=${name}}`, `\\p{sc=${name}}`]) {
    try {
      new RegExp(source, 'u');
      return true;
    } catch {
      // Not of this kind.
    }
  }
  return false;
}
