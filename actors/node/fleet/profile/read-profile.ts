import { readFileSync } from 'node:fs';
import { parse, YAMLParseError } from 'yaml';
import type { z } from 'zod';
import { ActorletError } from '../../../../machines/errors/define.ts';
import { nodesErrors } from '../../../../machines/errors/nodes-errors.ts';
import { profileSchema } from './profile-schema.ts';
import type { Profile } from './profile-schema.ts';

/** Reads and checks a YAML or JSON profile. Throws NDS001, NDS002 or NDS003, which names every wrong field. */
export function readProfile(file: string): Profile {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ActorletError(nodesErrors.profileUnreadable, { file, problem: firstLine(cause) }, { cause });
  }
  let value: unknown;
  try {
    value = parse(text) ?? {};
  } catch (cause) {
    throw new ActorletError(nodesErrors.profileSyntax, { file, problem: firstLine(cause) }, { cause });
  }
  return checkProfile(value, file);
}

/** Checks a profile given as a value. Throws NDS003. */
export function checkProfile(value: unknown, name = '(given as a value)'): Profile {
  const result = profileSchema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(describeIssue).join('; ');
  throw new ActorletError(nodesErrors.profileInvalid, { file: name, problems }, { cause: result.error });
}

/** `groups[0].machine.cpus: what is wrong`. */
function describeIssue(issue: z.core.$ZodIssue): string {
  let path = '';
  for (const part of issue.path) {
    if (typeof part === 'number') path += `[${part}]`;
    else path += path === '' ? String(part) : `.${String(part)}`;
  }
  return `${path === '' ? 'the profile' : path}: ${issue.message}`;
}

function firstLine(cause: unknown): string {
  if (cause instanceof YAMLParseError) return `${cause.message.split('\n')[0] ?? ''}`.replace(/:$/, '');
  return cause instanceof Error ? (cause.message.split('\n')[0] ?? cause.message) : String(cause);
}
