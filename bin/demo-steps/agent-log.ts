/** A line of the agent's JSON log, as far as the demo shows it. */
export type AgentLine =
  | { kind: 'state'; pod: string; state: string; why: string }
  | { kind: 'problem'; text: string }
  /** The file that says where the inspector is, with its token. */
  | { kind: 'inspector'; addressFile: string }
  | { kind: 'other' };

/**
 * Reads one line of the agent's log. The agent writes a line with `pod` (`namespace/name`) and `state` (dotted path)
 * each time a pod machine enters a state; a line with `err`, or without the verbosity `v`, is an error (kubelet's format).
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
  const { pod, state, why, msg, err, v, addressFile } = record;
  if (typeof pod === 'string' && typeof state === 'string') {
    return { kind: 'state', pod, state, why: typeof why === 'string' ? why : '' };
  }
  if (typeof msg === 'string' && msg.startsWith('Inspector: ') && typeof addressFile === 'string')
    return { kind: 'inspector', addressFile };
  if (typeof msg === 'string' && (err !== undefined || v === undefined)) {
    return { kind: 'problem', text: typeof err === 'string' ? `${msg}: ${err}` : msg };
  }
  return { kind: 'other' };
}
