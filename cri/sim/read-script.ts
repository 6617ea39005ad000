import { readFileSync } from 'node:fs';
import { parse, YAMLParseError } from 'yaml';
import type { z } from 'zod';
import { ActorletError } from '../../machines/errors/define.ts';
import { simErrors } from '../../machines/errors/sim-errors.ts';
import { scriptSchema } from './script.ts';
import type { SimPlan } from './script.ts';

/** Reads and checks a YAML or JSON script. Throws SIM001, SIM002 or SIM003, which names every wrong field. */
export function readScript(file: string): SimPlan {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ActorletError(simErrors.scriptUnreadable, { file, problem: firstLine(cause) }, { cause });
  }
  let value: unknown;
  try {
    value = parse(text) ?? {};
  } catch (cause) {
    throw new ActorletError(simErrors.scriptSyntax, { file, problem: firstLine(cause) }, { cause });
  }
  return checkScript(value, file);
}

/** Checks a script given as a value. Throws SIM003. */
export function checkScript(value: unknown, name = '(given as a value)'): SimPlan {
  const result = scriptSchema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(describeIssue).join('; ');
  throw new ActorletError(simErrors.scriptInvalid, { file: name, problems }, { cause: result.error });
}

/** `containers[0].attempts: what is wrong`. */
function describeIssue(issue: z.core.$ZodIssue): string {
  let path = '';
  for (const part of issue.path) {
    if (typeof part === 'number') path += `[${part}]`;
    else path += path === '' ? String(part) : `.${String(part)}`;
  }
  return `${path === '' ? 'the script' : path}: ${issue.message}`;
}

function firstLine(cause: unknown): string {
  if (cause instanceof YAMLParseError) return `${cause.message.split('\n')[0] ?? ''}`.replace(/:$/, '');
  return cause instanceof Error ? (cause.message.split('\n')[0] ?? cause.message) : String(cause);
}
