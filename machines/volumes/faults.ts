/** Several faults as one text, as kubelet joins them: one alone stands as it is, a repeated one counts once. */
export function joinFaults(faults: readonly string[]): string {
  const unique = [...new Set(faults)];
  return unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]`;
}
