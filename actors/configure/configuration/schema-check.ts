import type { ActorletError } from '../../../machines/errors/define.ts';
import type { z } from 'zod';
import { suggestion } from './closest-name.ts';
import { isObject } from '../../../machines/values/json-object.ts';
import { type JsonObject, kubeletConfigurationSchema } from './kubelet-configuration.ts';
import { toError } from './problems.ts';
import { withoutZeroValues } from './zero-values.ts';

/** A raw layer without what is wrong in it. */
export interface CheckedLayer {
  clean: JsonObject;
  errors: ActorletError[];
  /** Fields that there are not, left out of `clean`; each with "Did you mean ...?", or nothing. */
  unknown: { path: string; suggestion: string }[];
  /** Top-level fields that were left out; rules say nothing about them. */
  broken: Set<string>;
}

/**
 * Checks the form of one layer (a file, or the flags): names and types of all fields, all errors at once.
 * `whereOf` names the file or flag of a path.
 */
export function checkLayer(raw: JsonObject, whereOf: (path: string) => string, keepZeroes = false): CheckedLayer {
  const errors: ActorletError[] = [];
  const unknown: CheckedLayer['unknown'] = [];
  const broken = new Set<string>();
  const clean = structuredClone(raw);
  const result = kubeletConfigurationSchema.safeParse(keepZeroes ? raw : withoutZeroValues(raw), { reportInput: true });
  for (const issue of result.error?.issues ?? []) {
    const path = pathText(issue.path);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) {
        const whole = path === '' ? key : `${path}.${key}`;
        unknown.push({ path: whole, suggestion: suggestion(key, knownKeys(issue.path)) });
        const parent = issue.path.reduce<unknown>((value, step) => child(value, step), clean);
        if (isObject(parent)) delete parent[key];
      }
      continue;
    }
    const top = String(issue.path[0]);
    errors.push(toError(whereOf(path), { path, got: valueAt(raw, issue), accepted: issue.message }));
    broken.add(top);
  }
  for (const field of broken) delete clean[field];
  return { clean, errors, unknown, broken };
}

function valueAt(raw: JsonObject, issue: z.core.$ZodIssue): unknown {
  return issue.path.reduce<unknown>((value, step) => child(value, step), raw);
}

function child(value: unknown, step: PropertyKey): unknown {
  if (Array.isArray(value)) return value[Number(step)] as unknown;
  return isObject(value) ? value[String(step)] : undefined;
}

/** `a.b[0].c` of a zod path. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}

/** Names of the fields of the object at a path, for suggestions: found through the schema's own definition. */
function knownKeys(path: readonly PropertyKey[]): string[] {
  let schema: unknown = kubeletConfigurationSchema;
  for (const step of path) {
    schema = unwrap(schema);
    const shape = member(schema, 'shape');
    schema =
      isObject(shape) && typeof step === 'string' ? shape[step] : (member(member(schema, 'def'), 'element') ?? schema);
  }
  const shape = member(unwrap(schema), 'shape');
  return isObject(shape) ? Object.keys(shape) : [];
}

function unwrap(schema: unknown): unknown {
  const inner = member(member(schema, 'def'), 'innerType');
  return inner === undefined ? schema : unwrap(inner);
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
}
