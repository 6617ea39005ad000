import type { EventObject, RecordedEvent } from '../protocol/recorded-event.ts';
import { rfc3339 } from '../values/rfc3339.ts';

/** `v1.Event` as kubelet's recorder sends it: no `eventTime`, no `action`, times in whole seconds. */
export interface ApiEvent {
  apiVersion: 'v1';
  kind: 'Event';
  metadata: { name: string; namespace: string; annotations?: Record<string, string> };
  involvedObject: EventObject;
  reason: string;
  message: string;
  source: { component: string; host: string };
  firstTimestamp: string;
  lastTimestamp: string;
  count: number;
  type: 'Normal' | 'Warning';
  /** '' for combined events, which client-go's aggregator makes without them. */
  reportingComponent: string;
  reportingInstance: string;
}

/** Component name in `source.component` and `reportingComponent`. */
const COMPONENT = 'kubelet';

/** Longest name of an object (RFC 1123 subdomain). */
const MAX_NAME = 253;

/**
 * Name of an event: the object's name and a time in hex nanoseconds, which must differ from that of every other event
 * about the object. Where that is no valid name (the object's own is too long) it is made of uid and time instead:
 * kubelet takes a random UUID there.
 */
export function eventName(object: EventObject, nanos: bigint): string {
  const time = nanos.toString(16);
  const name = `${object.name}.${time}`;
  return name.length <= MAX_NAME ? name : `${object.uid || 'event'}.${time}`;
}

/** The event that stands for one happening alone. */
export function apiEvent(happening: RecordedEvent, nodeName: string, nanos: bigint): ApiEvent {
  const time = rfc3339(happening.at);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: eventName(happening.object, nanos),
      // The API server refuses an event of another namespace than its object's; without one it must be `default`.
      namespace: happening.object.namespace || 'default',
      ...(happening.annotations ? { annotations: happening.annotations } : {}),
    },
    involvedObject: happening.object,
    reason: happening.reason,
    message: happening.message,
    source: { component: COMPONENT, host: nodeName },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    type: happening.type,
    reportingComponent: COMPONENT,
    reportingInstance: nodeName,
  };
}
