/** What is said of anything thrown: an error's message alone (no name, no stack), any other value as text. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
