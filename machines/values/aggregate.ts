/** Several failures as one text, each different one once: `a`, or `[a, b]` (apimachinery's `errors.Aggregate`). */
export function aggregate(messages: readonly string[]): string {
  const unique = [...new Set(messages)];
  return unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]`;
}
