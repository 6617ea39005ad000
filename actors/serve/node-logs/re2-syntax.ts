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
