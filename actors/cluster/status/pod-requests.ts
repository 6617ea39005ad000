import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { StatusPatch } from '../../../machines/status/status-patch.ts';
import type { ApiClient } from '../api/api-client.ts';
import { ApiStatusError } from '../api/api-client.ts';

const TIMEOUT_MS = 10_000;

/** A pod of the API by all that names it. */
export interface PodName {
  uid: string;
  namespace: string;
  name: string;
}

/** Patches the status of this very pod. Resolves with the pod as it is now. */
export function patchStatus(api: ApiClient, pod: PodName, patch: StatusPatch, signal: AbortSignal): Promise<Pod> {
  return api.request<Pod>({
    method: 'PATCH',
    on: { group: '', version: 'v1', resource: 'pods', namespace: pod.namespace },
    name: pod.name,
    subresource: 'status',
    contentType: 'application/strategic-merge-patch+json',
    body: patch,
    timeoutMs: TIMEOUT_MS,
    signal,
  });
}

/** How a pod is removed. */
export interface DeleteOptions {
  gracePeriodSeconds: number;
  preconditions: { uid: string };
}

/** Removes a pod. With finalizers the object stays a while. */
export async function deletePod(
  api: ApiClient,
  pod: PodName,
  options: DeleteOptions,
  signal: AbortSignal,
): Promise<void> {
  await api.request({
    method: 'DELETE',
    on: { group: '', version: 'v1', resource: 'pods', namespace: pod.namespace },
    name: pod.name,
    body: { apiVersion: 'v1', kind: 'DeleteOptions', ...options },
    timeoutMs: TIMEOUT_MS,
    signal,
  });
}

/** Removes this very pod without grace: the node's last word about it. */
export async function deleteNow(api: ApiClient, pod: PodName, signal: AbortSignal): Promise<void> {
  await deletePod(api, pod, { gracePeriodSeconds: 0, preconditions: { uid: pod.uid } }, signal);
}

/**
 * The pod is not there any more: not found, or its name belongs to another one by now. The API server refuses a
 * DELETE by the precondition, and a PATCH since `metadata.uid` cannot be changed.
 */
export function isGone(error: unknown): boolean {
  if (!(error instanceof ApiStatusError)) return false;
  const { status, message } = error;
  if (status === 409) return /uid in (the )?precondition/i.test(message);
  return status === 404 || (status === 422 && message.includes('metadata.uid'));
}
