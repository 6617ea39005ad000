const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** As Go's strconv.ParseBool; null for what it does not take. */
export function parseGoBool(text: string): boolean | null {
  if (TRUE.includes(text)) return true;
  return FALSE.includes(text) ? false : null;
}
