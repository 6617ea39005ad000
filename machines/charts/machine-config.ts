import type { AnyStateMachine } from 'xstate';
import { decisionOf } from '../machine-step/act.ts';

/**
 * A machine's definition as the JSON that Stately Studio imports: states, transitions, descriptions; guards and actions by
 * name. What an unnamed function does has no name: it is called after the place where it stands. The context is left
 * out, since it is made from input.
 */
export function machineConfig(machine: AnyStateMachine): Record<string, unknown> {
  const { context: _context, ...config } = machine.config as Record<string, unknown>;
  return plain(config, '') as Record<string, unknown>;
}

function plain(value: unknown, where: string): unknown {
  if (typeof value === 'function') return nameOf(value) || `decide (${where.trim()})`;
  if (Array.isArray(value)) {
    if (value.length === 1) return [plain(value[0], where)];
    return value.map((item, i) => plain(item, `${where} ${i + 1}`));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, plain(item, PART_OF_PATH.has(key) ? where : `${where} ${key}`)]),
  );
}

const PART_OF_PATH = new Set(['states', 'on', 'always', 'guard', 'actions']);

/** Name of the function that decides what an action does; '' when it has none. */
function nameOf(action: unknown): string {
  return decisionOf(action)?.name ?? '';
}
