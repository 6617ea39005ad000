import { isQuantity } from '../values/quantity.ts';
import { invalid, type FieldProblem, problemText } from './problem.ts';

/*
 * Why this and not zod, which reads configuration and files of state: an object of the API is read as Go's decoder reads it (null
 * is absent, unknown fields are dropped and listed, absent items of a list are zero values, a number may stand for a quantity), what
 * is wrong is told in the words of field paths that pod events carry, secrets left out, and `fits` looks at a pod of the watch
 * without making a copy of it.
 */

/** What JSON type a field has. `int32` and `int64` are whole numbers; `quantity` accepts numbers too and becomes a string. */
export type Shape =
  | 'string'
  | 'int32'
  | 'int64'
  | 'bool'
  | 'quantity'
  | 'intOrString'
  | 'any'
  | { list: Shape }
  | { map: Shape }
  | { fields: Record<string, Shape> };

/** An object of known fields. */
export const fields = (known: Record<string, Shape>): Shape => ({ fields: known });
/** A list. */
export const list = (item: Shape): Shape => ({ list: item });
/** An object with free keys. */
export const map = (value: Shape): Shape => ({ map: value });

/** What {@link readShape} gives: a fresh copy with known fields only, what does not fit, and paths that nobody knows. */
export interface ShapeReading {
  value: unknown;
  problems: FieldProblem[];
  /** Fields that the API does not have. The API machinery drops them when it decodes; worth a warning. */
  unknown: string[];
}

/**
 * Reads a decoded document by its shape: `null` counts as absent, unknown fields are dropped and listed,
 * a value of the wrong type is a problem.
 */
export function readShape(input: unknown, shape: Shape, path = ''): ShapeReading {
  const reading: ShapeReading = { value: undefined, problems: [], unknown: [] };
  reading.value = read(input, shape, path, reading);
  return reading;
}

/** What of a value does not fit a shape, in a line; undefined when all does. Fields that the shape lacks may be anything. */
export function shapeProblem(input: unknown, shape: Shape): string | undefined {
  const { problems } = readShape(input, shape);
  return problems.length === 0 ? undefined : problems.slice(0, 5).map(problemText).join('; ');
}

function read(input: unknown, shape: Shape, path: string, into: ShapeReading): unknown {
  if (typeof shape === 'string') return readScalar(input, shape, path, into);
  if ('list' in shape) {
    if (!Array.isArray(input)) return mismatch(input, 'a list', path, into);
    return input.map(
      (item: unknown, index) =>
        read(item ?? zero(shape.list), shape.list, `${path}[${index}]`, into) ?? zero(shape.list),
    );
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return mismatch(input, 'an object', path, into);
  }
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(input)) {
    if (value === null || value === undefined) continue;
    const inner = 'map' in shape ? shape.map : Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
    const at = 'map' in shape ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    if (inner === undefined) into.unknown.push(at);
    else if (isTrap(key, inner)) into.problems.push(invalid(path || '(document)', key, 'is no name'));
    else {
      const fitting = read(value, inner, at, into);
      // A map of texts that held `undefined` would be none.
      if (fitting !== undefined) out[key] = fitting;
    }
  }
  return out;
}

/** Has {@link readShape} nothing against it? Unknown fields may be anything. */
export function fits(input: unknown, shape: Shape): boolean {
  if (typeof shape === 'string') return fitsScalar(input, shape);
  if ('list' in shape) {
    if (!Array.isArray(input)) return false;
    for (const item of input as unknown[]) if (item != null && !fits(item, shape.list)) return false;
    return true;
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return false;
  const object = input as Record<string, unknown>;
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value === null || value === undefined) continue;
    const inner = 'map' in shape ? shape.map : Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
    if (inner !== undefined && (isTrap(key, inner) || !fits(value, inner))) return false;
  }
  return true;
}

/** A plain object cannot hold `__proto__`, and seems to hold an amount of `constructor` and its like; no resource is called so. */
function isTrap(key: string, inner: Shape): boolean {
  return key === '__proto__' || (inner === 'quantity' && key in Object.prototype);
}

function zero(shape: Shape): unknown {
  if (typeof shape === 'object') return 'list' in shape ? [] : {};
  return { string: '', int32: 0, int64: 0, bool: false, quantity: '0', intOrString: 0, any: null }[shape];
}

const WANTED = {
  string: 'a string',
  int32: 'a whole number',
  int64: 'a whole number',
  bool: 'true or false',
  quantity: 'a quantity such as 500m, 1.5 or 64Mi',
  intOrString: 'a whole number or a string',
  any: 'a value',
};

function readScalar(input: unknown, shape: Extract<Shape, string>, path: string, into: ShapeReading): unknown {
  const wanted = WANTED[shape];
  switch (shape) {
    case 'any':
      return input;
    case 'string':
      return typeof input === 'string'
        ? input
        : mismatch(input, quotable(input) ? `${wanted} (put it in quotes)` : wanted, path, into);
    case 'bool':
      return typeof input === 'boolean' ? input : mismatch(input, wanted, path, into);
    case 'int32':
    case 'int64':
      return isWhole(input, shape) ? input : mismatch(input, wanted, path, into);
    case 'intOrString':
      return typeof input === 'string' || isWhole(input, 'int32') ? input : mismatch(input, wanted, path, into);
    case 'quantity': {
      const text = typeof input === 'number' ? String(input) : input;
      return typeof text === 'string' && isQuantity(text) ? text : mismatch(input, wanted, path, into);
    }
  }
}

function fitsScalar(input: unknown, shape: Extract<Shape, string>): boolean {
  switch (shape) {
    case 'any':
      return true;
    case 'string':
      return typeof input === 'string';
    case 'bool':
      return typeof input === 'boolean';
    case 'int32':
    case 'int64':
      return isWhole(input, shape);
    case 'intOrString':
      return typeof input === 'string' || isWhole(input, 'int32');
    case 'quantity':
      return typeof input === 'number' ? isQuantity(String(input)) : typeof input === 'string' && isQuantity(input);
  }
}

const quotable = (input: unknown): boolean => typeof input === 'number' || typeof input === 'boolean';

function isWhole(input: unknown, shape: 'int32' | 'int64'): boolean {
  if (typeof input !== 'number' || !Number.isInteger(input)) return false;
  return shape === 'int64' || (input >= -(2 ** 31) && input < 2 ** 31);
}

function mismatch(input: unknown, wanted: string, path: string, into: ShapeReading): undefined {
  // The value of a variable may be a secret: only its type is shown.
  const shown = /\.env\[\d+\]\.value$/.test(path) ? `a ${typeof input}` : input;
  const text = typeof input === 'object' && input !== null ? (Array.isArray(input) ? 'a list' : 'an object') : shown;
  into.problems.push(invalid(path === '' ? '(document)' : path, text, `must be ${wanted}`));
  return undefined;
}
