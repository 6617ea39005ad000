import { configErrors } from '../../../machines/errors/config-errors.ts';
import { ActorletError } from '../../../machines/errors/define.ts';

/** One wrong value: where in the configuration, what it is, and what would be accepted. */
export interface Problem {
  /** Dotted path, e.g. `authentication.webhook.cacheTTL`, list items as `[0]`. */
  path: string;
  got: unknown;
  /** Completes "accepted: ...". */
  accepted: string;
}

/** All errors of a configuration or command line at once. Its message has one line for each. */
export class ConfigurationInvalid extends Error {
  readonly errors: readonly ActorletError[];

  constructor(errors: readonly ActorletError[]) {
    super(errors.map((error) => error.message).join('\n'));
    this.name = 'ConfigurationInvalid';
    this.errors = errors;
  }
}

/** Paths whose values must never be printed: headers for the pod source may carry tokens. */
const SECRET = /^(staticPodURLHeader|manifest-url-header)/;

/** A value as it is shown in an error: JSON, cut at 80 characters, secrets masked. */
export function shown(path: string, value: unknown): string {
  if (SECRET.test(path)) return '<masked>';
  if (value === undefined) return 'nothing';
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? typeof value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** The registry's error for a problem found in `where` (a file, a flag, or the defaults). */
export function toError(where: string, problem: Problem): ActorletError {
  return new ActorletError(configErrors.badValue, {
    where,
    path: problem.path,
    got: shown(problem.path, problem.got),
    accepted: problem.accepted,
  });
}
