import type { Pod } from './api-objects.ts';

/** All its containers are ready and it is not on its way out. */
export function isReadyPod(pod: Pod): boolean {
  return (
    pod.metadata?.deletionTimestamp === undefined &&
    pod.status?.conditions?.find((c) => c.type === 'Ready')?.status === 'True'
  );
}

/** The UID, which every pod of the API server has. */
export function uidOf(pod: Pod): string {
  const uid = pod.metadata?.uid;
  if (uid === undefined) throw new Error('a pod without UID');
  return uid;
}

/** Sum of the restart counts of all containers of these pods. */
export function restarts(pods: readonly Pod[]): number {
  return pods.flatMap((p) => p.status?.containerStatuses ?? []).reduce((sum, c) => sum + c.restartCount, 0);
}
