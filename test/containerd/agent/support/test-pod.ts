import { BUSYBOX_IMAGE } from '../../../../cri/private-containerd/own-images.ts';

/**
 * For probes that must not fail: kubelet's default is one second, and an exec takes longer than that on a busy machine.
 * A probe that timed out counts as failed.
 */
export const PATIENT = { timeoutSeconds: 60, failureThreshold: 30 };

/** A container of a test's manifest; any field of `v1.Container`. */
export type ContainerWish = Readonly<Record<string, unknown>> & { name: string };

/** A busybox container that runs a shell script. */
export function shell(name: string, script: string, more: Record<string, unknown> = {}): ContainerWish {
  return { name, image: BUSYBOX_IMAGE, imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', script], ...more };
}

/** Runs until it is told to end, then ends at once. */
export const RUNS = 'trap "kill $!; exit 0" TERM; while :; do sleep 100000 & wait $!; done';

/** The same, and ends with an error: whoever ends it for the node's sake is told of as the cause only then. */
export const ENDS_BADLY = RUNS.replace('exit 0', 'exit 1');

/** A container that runs until it is told to end. */
export function runs(name: string, more: Record<string, unknown> = {}): ContainerWish {
  return shell(name, RUNS, more);
}

/** A pod's manifest; `more` are further fields of its spec. */
export function podOf(
  name: string,
  containers: readonly ContainerWish[],
  more: Record<string, unknown> = {},
  metadata: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...metadata },
    spec: { terminationGracePeriodSeconds: 5, containers, ...more },
  };
}
