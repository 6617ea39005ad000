import { textOf } from '../../../machines/values/json-object.ts';
import { eventError } from '../api/answer-error.ts';

/** One line of a watch. */
export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  object: unknown;
  /** Of the object; '' when it has none. */
  resourceVersion: string;
  /** A bookmark that ends the initial events (KEP-3157). */
  initialEnd: boolean;
}

interface RawEvent {
  type?: string;
  object?: { metadata?: { resourceVersion?: string; annotations?: Record<string, string> } };
}

/**
 * Reads a line of a watch; null for a type that is not known.
 * @throws ApiStatusError for an event of type ERROR (`Expired`, 410)
 */
export function readWatchEvent(line: unknown): WatchEvent | null {
  const { type, object } = (line ?? {}) as RawEvent;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
    case 'BOOKMARK':
      return {
        type,
        object,
        resourceVersion: textOf(object?.metadata?.resourceVersion),
        initialEnd: object?.metadata?.annotations?.['k8s.io/initial-events-end'] === 'true',
      };
    case 'ERROR':
      throw eventError(object);
    default:
      return null;
  }
}
