import { firstValue } from '../server/go-query.ts';
import { readStamp, ZERO_STAMP } from './stamp.ts';
import type { Stamp } from './stamp.ts';

/** `v1.PodLogOptions`, as far as the kubelet reads it. */
export interface PodLogOptions {
  follow: boolean;
  previous: boolean;
  timestamps: boolean;
  sinceSeconds?: bigint;
  sinceTime?: Stamp;
  tailLines?: bigint;
  limitBytes?: bigint;
  /** `All`, `Stdout` or `Stderr` when it is valid. */
  stream?: string;
}

const MOST_INT64 = 2n ** 63n - 1n;

/**
 * Decodes the query of `/containerLogs` into PodLogOptions by the rules of apimachinery: of a name that comes twice the
 * first value counts, a truth is anything but `0` and `false`, numbers are int64.
 * @returns undefined when a number or a time cannot be read; the kubelet then answers 400
 */
export function parsePodLogOptions(query: ReadonlyMap<string, readonly string[]>): PodLogOptions | undefined {
  // Of clients older than `tailLines`.
  const legacyTail = firstValue(query, 'tail');
  const tail = legacyTail === '' ? query.get('tailLines')?.[0] : legacyTail === 'all' ? undefined : legacyTail;

  const options: PodLogOptions = {
    follow: truth(query.get('follow')?.[0]),
    previous: truth(query.get('previous')?.[0]),
    timestamps: truth(query.get('timestamps')?.[0]),
  };
  const stream = query.get('stream')?.[0];
  if (stream !== undefined) options.stream = stream;
  const numbers = {
    sinceSeconds: query.get('sinceSeconds')?.[0],
    tailLines: tail,
    limitBytes: query.get('limitBytes')?.[0],
  };
  for (const [name, text] of Object.entries(numbers) as [keyof typeof numbers, string | undefined][]) {
    if (text === undefined) continue;
    const value = int64(text);
    if (value === undefined) return undefined;
    options[name] = value;
  }
  const sinceTime = query.get('sinceTime')?.[0];
  if (sinceTime !== undefined) {
    const stamp = timeOf(sinceTime);
    if (stamp === undefined) return undefined;
    options.sinceTime = stamp;
  }
  return options;
}

function truth(text: string | undefined): boolean {
  return text !== undefined && text !== '0' && text.toLowerCase() !== 'false';
}

function int64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value > MOST_INT64 || value < -MOST_INT64 - 1n ? undefined : value;
}

/** `metav1.Time` of a query: empty and `null` are the zero time. */
function timeOf(text: string): Stamp | undefined {
  if (text === '' || text === 'null') return { ...ZERO_STAMP };
  const bytes = Buffer.from(text);
  const stamp: Stamp = { seconds: 0, nanos: 0 };
  return readStamp(bytes, 0, bytes.length, stamp) ? stamp : undefined;
}
