/** The text without spaces and tabs at its end, in linear time (an expression for it takes quadratic time for many in its middle). */
export function trimBlanksAtEnd(text: string): string {
  let end = text.length;
  while (end > 0 && isBlank(text, end - 1)) end--;
  return text.slice(0, end);
}

/** The text without spaces and tabs at both ends. */
export function trimBlanks(text: string): string {
  let begin = 0;
  while (begin < text.length && isBlank(text, begin)) begin++;
  return trimBlanksAtEnd(text.slice(begin));
}

function isBlank(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t';
}
