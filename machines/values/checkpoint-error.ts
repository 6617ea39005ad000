import { isObject } from './json-object.ts';
import { goSyntaxProblem } from './go-syntax-problem.ts';

/** Thrown for a checkpoint that cannot be used; the words are kubelet's. */
export class CheckpointError extends Error {}

/** Reads the JSON of a checkpoint. @throws CheckpointError as Go's decoder begins to complain */
export function checkpointJson(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CheckpointError(goSyntaxProblem(text, error));
  }
  if (!isObject(value)) throw new CheckpointError('json: cannot unmarshal the checkpoint into Go value');
  return value;
}

/** What kubelet says when the checksum is another one. */
export function corrupted(): CheckpointError {
  return new CheckpointError('checkpoint is corrupted');
}

/** Checks a field's type. @throws CheckpointError */
export function checked<T>(value: unknown, is: (value: unknown) => value is T, field: string): T {
  if (is(value)) return value;
  throw new CheckpointError(`json: cannot unmarshal a value of another type into Go struct field ${field}`);
}

/** A text. */
export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** A whole number that is not negative. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Entries of an object in the order of their keys, as Go's JSON and its debug printer have them. */
export function sortedEntries<T>(record: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}
