import { readFileSync } from 'node:fs';
import { parse, YAMLParseError } from 'yaml';
import type { z } from 'zod';
import { ActorletError } from '../../machines/errors/define.ts';
import type { ErrorSpec } from '../../machines/errors/define.ts';

/** A kind of document that people write. */
export interface DocumentKind<T> {
  schema: z.ZodType<T>;
  /** What is told of a file that cannot be read, is no YAML, or has wrong values. */
  errors: Record<'unreadable' | 'syntax' | 'invalid', ErrorSpec>;
  /** What the whole of it is called, e.g. `the script`. */
  whole: string;
}

/** Reads and checks a YAML or JSON document. Throws its kind's errors; the last one names every wrong field. */
export function readDocument<T>(kind: DocumentKind<T>, file: string): T {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ActorletError(kind.errors.unreadable, { file, problem: firstLine(cause) }, { cause });
  }
  let value: unknown;
  try {
    value = parse(text) ?? {};
  } catch (cause) {
    throw new ActorletError(kind.errors.syntax, { file, problem: firstLine(cause) }, { cause });
  }
  return checkDocument(kind, value, file);
}

/** Checks a document that is given as a value. Throws its kind's error `invalid`. */
export function checkDocument<T>({ schema, errors, whole }: DocumentKind<T>, value: unknown, name: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => describeIssue(issue, whole)).join('; ');
  throw new ActorletError(errors.invalid, { file: name, problems }, { cause: result.error });
}

/** `containers[0].attempts: what is wrong`. */
function describeIssue(issue: z.core.$ZodIssue, whole: string): string {
  let path = '';
  for (const part of issue.path) {
    if (typeof part === 'number') path += `[${part}]`;
    else path += path === '' ? String(part) : `.${String(part)}`;
  }
  return `${path === '' ? whole : path}: ${issue.message}`;
}

function firstLine(cause: unknown): string {
  if (cause instanceof YAMLParseError) return `${cause.message.split('\n')[0] ?? ''}`.replace(/:$/, '');
  return cause instanceof Error ? (cause.message.split('\n')[0] ?? cause.message) : String(cause);
}
