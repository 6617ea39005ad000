/** A line of the agent's JSON log, as far as the demo shows it. */
export type AgentLine =
  | { kind: 'state'; pod: string; state: string; why: string }
  | { kind: 'problem'; text: string }
  | { kind: 'other' };

/**
 * Reads one line of the agent's log. The agent writes a line with `pod` (`namespace/name`) and `state` (dotted path)
 * each time a pod machine enters a state; pino's levels 40 and up are problems.
 */
export function readAgentLine(line: string): AgentLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { kind: 'other' };
  }
  if (typeof value !== 'object' || value === null) return { kind: 'other' };
  const record = value as Record<string, unknown>;
  const { pod, state, level, msg, why } = record;
  if (typeof pod === 'string' && typeof state === 'string') {
    return { kind: 'state', pod, state, why: typeof why === 'string' ? why : '' };
  }
  if ((typeof level === 'number' && level >= 40) || level === 'error' || level === 'warn' || level === 'fatal') {
    const err = record['err'];
    const cause = typeof err === 'object' && err !== null && 'message' in err ? `: ${String(err.message)}` : '';
    return { kind: 'problem', text: `${typeof msg === 'string' ? msg : line}${cause}` };
  }
  return { kind: 'other' };
}
