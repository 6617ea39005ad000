import type { PlayedStep } from './played-step.ts';
import { THREW } from './played-step.ts';

/** A place where today's machines decide otherwise than the recorded ones. */
export interface Difference {
  file: string;
  line: number;
  /** '' when it is not a pod's. */
  uid: string;
  /** `namespace/name`, or the name of the machine. */
  pod: string;
  message: unknown;
  /** `state`, or `effect` (of other machines than pods: `order`) with its position. */
  what: string;
  recorded: string;
  computed: string;
}

/** Tells apart whose differences are: a pod's UID, or the name of the machine. */
export function whoseOf({ uid, pod }: Difference): string {
  return uid === '' ? pod : uid;
}

/** What a step came to: state path, and effects or orders. */
export interface Outcome {
  state: string;
  outputs: readonly unknown[];
}

/** Compares a recorded outcome with the computed one. */
export function differenceOf(
  step: PlayedStep,
  { state, outputs }: Outcome,
  { file, line }: { file: string; line: number },
): Difference | null {
  const { machine, key: uid, packed } = step;
  const found = (what: string, recorded: string, computed: string): Difference => ({
    ...{ file, line, uid, pod: machine.label(step.after), message: step.raw },
    ...{ what, recorded, computed },
  });
  // Of a fault only that it happened is compared: its text names lines of the program.
  if (state === THREW && step.fault !== null) return null;
  if (step.state !== state) return found('state', state, step.state);
  const length = Math.max(outputs.length, packed.length);
  const textOf = (list: readonly unknown[], i: number) => (i < list.length ? JSON.stringify(list[i]) : '(none)');
  for (let i = 0; i < length; i++) {
    const [recorded, computed] = [textOf(outputs, i), textOf(packed, i)];
    if (recorded !== computed) return found(`${machine.output.word} ${i + 1} of ${length}`, recorded, computed);
  }
  return null;
}
