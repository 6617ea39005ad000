import type { CriClient } from '../../../cri/client/cri-client.ts';
import { isCriError } from '../../../cri/client/cri-error.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../../machines/protocol/observed.ts';
import { observedContainer, observedSandbox } from './observed-from-cri.ts';

/** What a list told of one pod: ids to look at in full. */
export interface ListedPod {
  uid: string;
  name: string;
  namespace: string;
  sandboxIds: string[];
  containers: { id: string; sandboxId: string }[];
}

/**
 * Asks the runtime for everything it holds of one pod (kubelet's GetPodStatus). `at` is when the list that named
 * the ids was asked for. What vanishes in between is left out.
 * @param stopSignals what containers are stopped by is told, too
 */
export async function observePod(
  cri: CriClient,
  pod: ListedPod,
  at: number,
  stopSignals = false,
): Promise<ObservedPod> {
  const [sandboxes, containers] = await Promise.all([
    Promise.all(pod.sandboxIds.map((id) => sandboxOf(cri, id))),
    Promise.all(pod.containers.map(({ id, sandboxId }) => containerOf(cri, id, sandboxId, stopSignals))),
  ]);
  return {
    uid: pod.uid,
    name: pod.name,
    namespace: pod.namespace,
    at,
    // `toSorted` makes a copy without room for more, which is kept for long.
    sandboxes: sandboxes.filter((s) => s !== null).toSorted((a, b) => b.createdAt - a.createdAt),
    containers: containers.filter((c) => c !== null).toSorted((a, b) => b.createdAt - a.createdAt),
  };
}

async function sandboxOf(cri: CriClient, podSandboxId: string): Promise<ObservedSandbox | null> {
  try {
    const { status } = await cri.runtime.podSandboxStatus({ podSandboxId });
    // What it was asked for by is its id, whatever the answer says.
    return status === undefined ? null : { ...observedSandbox(status), id: podSandboxId };
  } catch (error) {
    if (isCriError(error, 'NotFound')) return null;
    throw error;
  }
}

async function containerOf(
  cri: CriClient,
  containerId: string,
  sandboxId: string,
  stopSignals: boolean,
): Promise<ObservedContainer | null> {
  try {
    const { status } = await cri.runtime.containerStatus({ containerId });
    return status === undefined ? null : { ...observedContainer(status, sandboxId, stopSignals), id: containerId };
  } catch (error) {
    if (isCriError(error, 'NotFound')) return null;
    throw error;
  }
}
