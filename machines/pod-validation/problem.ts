/** One thing that is wrong with an object, in the API server's words (`field.Error` of apimachinery). */
export interface FieldProblem {
  /** Path as the API server spells it: `spec.containers[0].name`, `spec.containers[0].resources.limits[cpu]`. */
  field: string;
  /** What is wrong: `Invalid value: "X": ...`, `Required value`, `Unsupported value: "y": supported values: "a", "b"`. */
  problem: string;
  /** What would be accepted, in a few words; '' when the problem says it all. */
  accepted: string;
}

/** Problems as they are found. */
export type Problems = Generator<FieldProblem, void, undefined>;

const shown = (value: unknown): string => JSON.stringify(value) ?? 'null';
const detailed = (text: string, detail: string): string => (detail === '' ? text : `${text}: ${detail}`);

/** The field must be there. */
export function required(field: string, detail = ''): FieldProblem {
  return { field, problem: detailed('Required value', detail), accepted: detail || 'a value' };
}

/** The value breaks a rule; `detail` is the rule. */
export function invalid(field: string, value: unknown, detail: string): FieldProblem {
  return { field, problem: `Invalid value: ${shown(value)}: ${detail}`, accepted: detail };
}

/** The value is none of a fixed set. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldProblem {
  const list = supported.map((name) => JSON.stringify(name)).join(', ');
  return {
    field,
    problem: `Unsupported value: ${shown(value)}: supported values: ${list}`,
    accepted: `one of ${list}`,
  };
}

/** The value stands twice where it may stand once. */
export function duplicate(field: string, value: unknown): FieldProblem {
  return { field, problem: `Duplicate value: ${shown(value)}`, accepted: 'a value that is not used elsewhere' };
}

/** The field may not be set here. */
export function forbidden(field: string, detail: string): FieldProblem {
  return { field, problem: `Forbidden: ${detail}`, accepted: 'leave the field out' };
}

/** The value names something that is not there. */
export function notFound(field: string, value: unknown): FieldProblem {
  return { field, problem: `Not found: ${shown(value)}`, accepted: 'the name of something that the pod defines' };
}

/** The value is longer than allowed. */
export function tooLong(field: string, max: number): FieldProblem {
  return { field, problem: `Too long: may not be more than ${max} bytes`, accepted: `at most ${max} bytes` };
}

/** One line for people: `spec.containers[0].name: Required value`. */
export function problemText(problem: FieldProblem): string {
  return `${problem.field}: ${problem.problem}`;
}

/** `must be between lo and hi, inclusive`. */
export function rangeRule(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}
