/**
 * Replaces `$(NAME)` by what `lookup` gives; `$$` stands for one `$`, and what is no reference stays as it is.
 * Names are not looked into again.
 */
export function expand(text: string, lookup: (name: string) => string): string {
  let out = '';
  let at = 0;
  while (at < text.length) {
    const next = text.indexOf('$', at);
    if (next < 0 || next === text.length - 1) return out + text.slice(at);
    out += text.slice(at, next);
    const after = text.charAt(next + 1);
    const close = after === '(' ? text.indexOf(')', next + 2) : -1;
    if (after === '$') {
      out += '$';
      at = next + 2;
    } else if (close >= 0) {
      out += lookup(text.slice(next + 2, close));
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
