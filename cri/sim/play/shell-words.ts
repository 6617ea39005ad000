import type { Part, Script, Word } from './shell-script.ts';

/** What a script is made of: words, and operators (a newline is `;`). */
export type Token = { word: Word } | { operator: string };

/** The script has something that is not simulated, or is wrong. */
export class NotPlayed extends Error {}

const OPERATOR = /^(?:&&|\|\||>>|[;&|>()\n])/;
const VARIABLE = /^\$(?:\{(\w+|\?)(:\?)?\}|(\w+|\?))/;

/** Takes a script apart. `parse` makes a script of the text within `$(...)`. Throws NotPlayed. */
export function shellTokens(text: string, parse: (text: string) => Script): Token[] {
  const tokens: Token[] = [];
  let word: Word | undefined;
  let at = 0;
  const add = (part: Part, quoted = false): void => {
    word ??= { parts: [], quoted: false };
    word.quoted ||= quoted;
    const last = word.parts.at(-1);
    if (part.kind === 'text' && last?.kind === 'text') last.text += part.text;
    else word.parts.push(part);
  };
  const end = (): void => {
    if (word !== undefined) tokens.push({ word });
    word = undefined;
  };
  /** `$...` at `at`; false when the dollar is only a dollar. */
  const dollar = (quoted: boolean): boolean => {
    if (text.startsWith('$((', at)) throw new NotPlayed('arithmetic');
    if (text.startsWith('$(', at)) {
      const close = closing(text, at + 1);
      add({ kind: 'output', script: parse(text.slice(at + 2, close)), quoted });
      at = close + 1;
      return true;
    }
    const found = VARIABLE.exec(text.slice(at));
    if (found === null) {
      if (text.startsWith('${', at)) throw new NotPlayed('a form of expansion');
      return false;
    }
    add({ kind: 'variable', name: found[1] ?? found[3] ?? '', quoted, must: found[2] !== undefined });
    at += found[0].length;
    return true;
  };
  while (at < text.length) {
    const char = text.charAt(at);
    const operator = OPERATOR.exec(text.slice(at, at + 2))?.[0];
    if (operator !== undefined) {
      end();
      tokens.push({ operator: operator === '\n' ? ';' : operator });
      at += operator.length;
    } else if (char === ' ' || char === '\t' || char === '\r') {
      end();
      at++;
    } else if (char === '#' && word === undefined) {
      while (at < text.length && text.charAt(at) !== '\n') at++;
    } else if (char === "'") {
      const close = text.indexOf("'", at + 1);
      if (close < 0) throw new NotPlayed('a quote that does not end');
      add({ kind: 'text', text: text.slice(at + 1, close) }, true);
      at = close + 1;
    } else if (char === '"') {
      add({ kind: 'text', text: '' }, true);
      at++;
      while (at < text.length && text.charAt(at) !== '"') {
        const inner = text.charAt(at);
        if (inner === '`') throw new NotPlayed('backticks');
        if (inner === '\\' && /[$"\\`]/.test(text.charAt(at + 1))) {
          add({ kind: 'text', text: text.charAt(at + 1) });
          at += 2;
        } else if (inner !== '$' || !dollar(true)) {
          add({ kind: 'text', text: inner });
          at++;
        }
      }
      if (at >= text.length) throw new NotPlayed('a quote that does not end');
      at++;
    } else if (char === '\\') {
      add({ kind: 'text', text: text.charAt(at + 1) }, true);
      at += 2;
    } else if ('`<*?'.includes(char)) {
      throw new NotPlayed(`${char} in a script`);
    } else if (char !== '$' || !dollar(false)) {
      add({ kind: 'text', text: char });
      at++;
    }
  }
  end();
  return tokens;
}

/** Where the parenthesis at `open` ends. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "'") {
      const close = text.indexOf("'", at + 1);
      if (close < 0) break;
      at = close;
    } else if (char === '(') depth++;
    else if (char === ')' && --depth === 0) return at;
  }
  throw new NotPlayed('a parenthesis that does not end');
}
