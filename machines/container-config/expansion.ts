/**
 * Characters that an environment may have, and what is made of it: more could not be told to the runtime, whose messages
 * hold 16 MiB. Without a bound variables that each name the one before them twice take all memory there is.
 */
const MAX_EXPANDED = 16 * 1024 * 1024;

/** What `$(NAME)`s stand for is more than any container can be started with. */
export class ExpansionTooLong extends Error {
  constructor() {
    super(`environment, command and arguments are longer than ${MAX_EXPANDED} bytes`);
  }
}

/** Throws {@link ExpansionTooLong} for texts that are together longer than a message to the runtime. */
export function assertFits(texts: Iterable<string>): void {
  let left = MAX_EXPANDED;
  for (const text of texts) if ((left -= text.length) < 0) throw new ExpansionTooLong();
}

/** What `make` gives, or what `tooLong` makes of the text of an {@link ExpansionTooLong}. */
export function orTooLong<T, U>(make: () => T, tooLong: (message: string) => U): T | U {
  try {
    return make();
  } catch (error) {
    if (error instanceof ExpansionTooLong) return tooLong(error.message);
    throw error;
  }
}

/**
 * Replaces `$(NAME)` by what `lookup` gives; `$$` stands for one `$`, and what is no reference stays as it is.
 * Names are not looked into again. Time: that of the text's length, and of what is looked up. Throws {@link ExpansionTooLong}.
 */
export function expand(text: string, lookup: (name: string) => string): string {
  const lastClose = text.lastIndexOf(')');
  let out = '';
  let at = 0;
  while (at < text.length) {
    const next = text.indexOf('$', at);
    if (next < 0 || next === text.length - 1) return out + text.slice(at);
    out += text.slice(at, next);
    const after = text.charAt(next + 1);
    // Behind the last `)` nobody searches: text that only opens would be gone through once for each `$(`.
    const close = after === '(' && next < lastClose ? text.indexOf(')', next + 2) : -1;
    if (after === '$') {
      out += '$';
      at = next + 2;
    } else if (close >= 0) {
      out += lookup(text.slice(next + 2, close));
      if (out.length > MAX_EXPANDED) throw new ExpansionTooLong();
      at = close + 1;
    } else {
      // A lone `$` keeps the character after it, which therefore opens nothing.
      const width = (text.codePointAt(next + 1) ?? 0) > 0xffff ? 2 : 1;
      out += text.slice(next, next + 1 + width);
      at = next + 1 + width;
    }
  }
  return out;
}

/** Expands from a table; an unknown reference stays as it was written. */
export function expandFrom(text: string, values: ReadonlyMap<string, string>): string {
  return expand(text, (name) => values.get(name) ?? `$(${name})`);
}
