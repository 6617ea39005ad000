import type { Pod } from '../protocol/api-types.ts';
import { specContainers } from '../pod/spec.ts';
import type { Failure } from './pod-history.ts';

/** A span of time as people say it: `0.4 s`, `40 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function span(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < 10_000) return `${Math.round(whole / 100) / 10} s`;
  const s = Math.round(whole / 1000);
  if (s < 120) return `${s} s`;
  if (s < 7200) return two(Math.floor(s / 60), 'min', s % 60, 's');
  if (s < 172_800) return two(Math.floor(s / 3600), 'h', Math.floor((s % 3600) / 60), 'min');
  return two(Math.floor(s / 86_400), 'd', Math.floor((s % 86_400) / 3600), 'h');
}

function two(a: number, unit: string, b: number, small: string): string {
  return b === 0 ? `${a} ${unit}` : `${a} ${unit} ${b} ${small}`;
}

/** A moment: `2026-11-21T09:40:05Z`. */
export function moment(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** `3 times`, `once`. */
export function times(count: number): string {
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`;
}

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
