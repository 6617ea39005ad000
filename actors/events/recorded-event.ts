/** What an event is about, as `v1.ObjectReference`. */
export interface EventObject {
  apiVersion: 'v1';
  kind: 'Pod' | 'Node';
  /** '' for a node; the API server then keeps the event in namespace `default`. */
  namespace: string;
  name: string;
  /** For a node kubelet puts the node's name here. */
  uid: string;
  resourceVersion?: string;
  /** e.g. `spec.containers{web}`. */
  fieldPath?: string;
}

/** One event before it is aggregated; `at` in ms since the epoch. */
export interface RecordedEvent {
  object: EventObject;
  at: number;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  annotations?: Record<string, string>;
}

/** Who takes events in; never throws and never blocks. */
export interface EventSink {
  record(event: RecordedEvent): void;
}
