import type { AdmissionOrder, Victim } from '../../../machines/admission/admission-messages.ts';
import { messageOf } from '../../../machines/values/message-of.ts';

/** Why the node does not take a pod. */
export interface Refusal {
  reason: string;
  message: string;
  /** Only the node's labels are in the way: {@link NodeAdmission.admitAfterAll} decides. */
  retryWithFreshNode: boolean;
  /** Who is to end for it; then {@link NodeAdmission.admitAfterRoom} decides. */
  preempt?: { victims: readonly Victim[]; signal: string };
}

/** Null: the node takes the pod. */
export type Verdict = Refusal | null;

/** What the machine has answered to the question whether the node takes a pod. */
export function verdictOf(orders: readonly AdmissionOrder[]): Verdict {
  const refused = orders.find((order) => order.type === 'pod.refuse');
  if (refused === undefined) return null;
  const { reason, message, again } = refused;
  const room = orders.find((order) => order.type === 'pods.preempt');
  return { reason, message, retryWithFreshNode: again, ...(room && { preempt: room }) };
}

/** As kubelet calls it when admission itself fails. */
export function unexpected(error: unknown): Refusal {
  const message = `Allocate failed due to ${messageOf(error)}, which is unexpected`;
  return { reason: 'UnexpectedAdmissionError', message, retryWithFreshNode: false };
}
