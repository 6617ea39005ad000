import type { Pod } from '../protocol/api-types.ts';
import { specContainers } from '../pod/spec.ts';
import { times } from '../values/spoken-time.ts';
import type { Failure } from './pod-history.ts';

/** `failed 3 times (not found: localhost/x)`. */
export function failed(failure: Pick<Failure, 'count' | 'message'>): string {
  return `failed ${times(failure.count)}${failure.message === '' ? '' : ` (${short(failure.message)})`}`;
}

const LONGEST = 300;

/** An error's text on one line, cut when it is very long. */
export function short(text: string): string {
  const plain = text
    .replace(/rpc error: code = Unknown desc = /g, '')
    .replace(/rpc error: code = (\w+) desc = /g, '$1: ');
  const line = plain.replace(/\s+/g, ' ').trim();
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1)}…`;
}

/** Shorter values than this say nothing, and would be found in every text. */
const SECRET_LETTERS = 4;

/**
 * Replaces what stands in the spec as an environment value, wherever a text has it: an error of the runtime may quote a
 * command in which it was put in.
 */
export function maskOf(pod: Pod): (text: string) => string {
  const values = new Set<string>();
  for (const { container } of specContainers(pod))
    for (const { value } of container.env ?? [])
      if (value !== undefined && value.length >= SECRET_LETTERS) values.add(value);
  const longestFirst = [...values].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((masked, value) => masked.replaceAll(value, '***'), text);
}
