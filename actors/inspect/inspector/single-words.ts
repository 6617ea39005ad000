import { isObject } from '../../../machines/values/json-object.ts';
import { cut } from './step-words.ts';

/** The name of the pod behind a reference, `namespace/name`; '' when it is not known. */
export type PodName = (spec: string) => string;

/** Fields that every message has, or that say nothing to people. */
const QUIET = new Set(['type', 'at', 'steady']);

/**
 * A message or an order of a machine that there is one of, in a few words: its plain fields, and the names of pods. Whatever the
 * machine is, nothing about it need be said here.
 */
export function plainWords(record: Record<string, unknown>, podName: PodName): string {
  const words = Object.entries(record).flatMap(([field, value]) => {
    if (QUIET.has(field)) return [];
    const text = wordsOf(value, podName);
    if (text === '') return [];
    // What a field says of itself: a pod, a name, a reason.
    return [typeof value === 'string' || isReference(value) ? text : `${field} ${text}`];
  });
  return cut(words.join(', '));
}

function wordsOf(value: unknown, podName: PodName): string {
  if (isReference(value)) return podName(value.$spec);
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!Array.isArray(value) || value.length === 0) return '';
  const [first] = value.map((item) => wordsOf(item, podName));
  return first === undefined || first === '' || value.length > 3
    ? String(value.length)
    : value.map((item) => wordsOf(item, podName)).join(' ');
}

function isReference(value: unknown): value is { $spec: string } {
  return isObject(value) && typeof value['$spec'] === 'string';
}
