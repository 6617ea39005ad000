/**
 * The text without the characters of `cutset` at its end (Go's `strings.TrimRight`). An expression such as `/x+$/` tries
 * each run of them anywhere in the text, in the square of its length.
 */
export function withoutEnd(text: string, cutset: string): string {
  let end = text.length;
  while (end > 0 && cutset.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** The text without the characters of `cutset` at both ends (Go's `strings.Trim`). */
export function trimmed(text: string, cutset: string): string {
  let start = 0;
  while (start < text.length && cutset.includes(text.charAt(start))) start++;
  return withoutEnd(text.slice(start), cutset);
}
