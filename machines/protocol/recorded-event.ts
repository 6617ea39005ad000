import type { Pod } from './api-types.ts';

/** What an event is about, as `v1.ObjectReference`. */
export interface EventObject {
  apiVersion: 'v1';
  kind: 'Pod' | 'Node' | 'PersistentVolumeClaim' | 'PersistentVolume';
  /** '' for a node or a volume; the API server then keeps the event in namespace `default`. */
  namespace: string;
  name: string;
  /** '' for a node: kubelet 1.35 refers to it by its name alone. */
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

/** What an event of a pod is about. */
export function podObject({ metadata }: Pick<Pod, 'metadata'>): EventObject {
  const { namespace = '', name = '', uid = '' } = metadata ?? {};
  return { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
}

/** What an event of the node is about: kubelet refers to it by its name alone. */
export function nodeNamed(name: string): EventObject {
  return { apiVersion: 'v1', kind: 'Node', namespace: '', name, uid: '' };
}
