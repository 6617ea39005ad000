import type { ApiEvent } from './api-event.ts';

// Source and host are left out of the keys that client-go builds: one agent has one of each.

/** Parts cannot run into each other: none may hold U+0000. */
function key(...parts: string[]): string {
  return parts.join('\u0000');
}

function objectKey({ involvedObject: object, type }: ApiEvent): string {
  return key(object.kind, object.namespace, object.name, object.uid, object.apiVersion, type);
}

/** All that must be the same for an event to count as one that came again. */
export function sameKey(event: ApiEvent): string {
  return key(objectKey(event), event.involvedObject.fieldPath ?? '', event.reason, event.message);
}

/** Events that differ only in message (and field path): together they may become one. */
export function similarKey(event: ApiEvent): string {
  return key(objectKey(event), event.reason);
}

/** Events of one type about one object: they share a rate limit. */
export function spamKey(event: ApiEvent): string {
  return objectKey(event);
}
