import type { JournalLine } from './journal-reader.ts';

/** State of a step that threw. */
export const THREW = '(threw)';

/** A place where today's machines decide otherwise than the recorded ones. */
export interface Difference {
  file: string;
  line: number;
  /** '' when it is the supervisor's. */
  uid: string;
  pod: string;
  message: unknown;
  /** `state`, or `effect` (of the supervisor: `order`) with its position. */
  what: string;
  recorded: string;
  computed: string;
}

/** What a step came to: state path, and effects or orders as JSON. */
export interface Judged {
  message: unknown;
  state: string;
  outputs: readonly string[];
}

/** Compares a recorded outcome with the computed one; without a message before it there is nothing to compare. */
export function differenceOf(
  computed: Judged | undefined,
  state: string,
  outputs: readonly unknown[],
  word: 'effect' | 'order',
  { file, line, uid, pod }: Pick<JournalLine, 'file' | 'line'> & { uid: string; pod: string },
): Difference | null {
  if (computed === undefined) return null;
  const base = { file, line, uid, pod, message: computed.message };
  // Of a fault only that it happened is compared: its text names lines of the program.
  if (state === THREW && computed.state.startsWith(THREW)) return null;
  if (computed.state !== state) return { ...base, what: 'state', recorded: state, computed: computed.state };
  const length = Math.max(outputs.length, computed.outputs.length);
  for (let i = 0; i < length; i++) {
    const recorded = i < outputs.length ? JSON.stringify(outputs[i]) : '(none)';
    const own = computed.outputs[i] ?? '(none)';
    if (recorded !== own) return { ...base, what: `${word} ${i + 1} of ${length}`, recorded, computed: own };
  }
  return null;
}
