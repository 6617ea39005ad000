/** Is it a JSON object (no list, not null)? */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value where it is a text, else ''. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A text as a JSON object; the fault tells nothing of what stands there, which may be secret. */
export function readObject(text: string): { object: Record<string, unknown> } | { fault: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { fault: 'it is no valid JSON' };
  }
  return isObject(parsed) ? { object: parsed } : { fault: 'it is no JSON object' };
}
