import { TERMINATED } from './node-endings.ts';

/** What kubelet 1.35 says of a node that shuts down (pkg/kubelet/nodeshutdown). */

/** `status.message` of such a pod, and message of its condition DisruptionTarget. */
export const TERMINATED_MESSAGE = 'Pod was terminated in response to imminent node shutdown.';

/** Why a node that shuts down does not take a pod. */
export const NOT_ADMITTED = { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' };

/** Why a node that shuts down is not ready. */
export const NOT_READY = 'node is shutting down';

/** Reason of the node's events, and what they say. */
export const NODE_SHUTDOWN = 'Shutdown';
export const SHUTDOWN_DETECTED = 'Shutdown manager detected shutdown event';
export const CANCELLATION_DETECTED = 'Shutdown manager detected shutdown cancellation';

/** A pod with this reason was ended, or refused, because its node shut down. */
export function endsWithNode(reason: string | undefined): boolean {
  return reason === TERMINATED || reason === NOT_ADMITTED.reason;
}
