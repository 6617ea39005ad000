import type { CriClient } from '../../../cri/client/cri-client.ts';
import { ContainerState, PodSandboxState } from '../../../cri/generated/runtime/v1/api.ts';
import type { Container, PodSandbox } from '../../../cri/generated/runtime/v1/api.ts';
import { LABEL } from '../../../machines/protocol/runtime-labels.ts';

/** The part of a `CriClient` that is used here. */
export interface RuntimeLists {
  readonly runtime: Pick<CriClient['runtime'], 'listContainers' | 'listPodSandbox'>;
}

/** What of a pod runs right now. */
export interface RunningPod {
  uid: string;
  /** Running containers by name; of two with one name, the newer. */
  containers: ReadonlyMap<string, Container>;
}

/**
 * The pod of that name that runs, as kubelet's `findContainer` sees it: what has a ready sandbox or a running container,
 * and of several pods with one name (one is still ending) the one with the newest sandbox. The UID of the request plays
 * no part in it, as in kubelet.
 * @throws CriError
 */
export async function findRunningPod(
  cri: RuntimeLists,
  namespace: string,
  name: string,
  signal?: AbortSignal,
): Promise<RunningPod | undefined> {
  const labelSelector = { [LABEL.podNamespace]: namespace, [LABEL.podName]: name };
  const ready = { state: PodSandboxState.SANDBOX_READY };
  const running = { state: ContainerState.CONTAINER_RUNNING };
  const [sandboxes, containers] = await Promise.all([
    cri.runtime.listPodSandbox({ filter: { state: ready, labelSelector } }, { signal }),
    cri.runtime.listContainers({ filter: { state: running, labelSelector } }, { signal }),
  ]);
  const madeAt = new Map<string, bigint>();
  for (const { labels } of containers.containers) madeAt.set(labels[LABEL.podUid] ?? '', 0n);
  for (const sandbox of sandboxes.items) {
    const uid = uidOf(sandbox);
    const at = BigInt(sandbox.createdAt);
    if (at > (madeAt.get(uid) ?? -1n)) madeAt.set(uid, at);
  }
  const newest = [...madeAt].reduce<[string, bigint] | undefined>(
    (best, each) => (best === undefined || each[1] > best[1] ? each : best),
    undefined,
  );
  if (newest === undefined) return undefined;
  const [uid] = newest;
  const byName = new Map<string, Container>();
  for (const container of containers.containers) {
    if (container.labels[LABEL.podUid] !== uid) continue;
    const key = container.labels[LABEL.containerName] ?? container.metadata?.name ?? '';
    const known = byName.get(key);
    if (known === undefined || BigInt(container.createdAt) > BigInt(known.createdAt)) byName.set(key, container);
  }
  return { uid, containers: byName };
}

/**
 * Id of the newest sandbox of a pod, whatever its state; undefined when there is none (`getSandboxIDByPodUID`).
 * @throws CriError
 */
export async function findSandboxId(cri: RuntimeLists, uid: string, signal?: AbortSignal): Promise<string | undefined> {
  const { items } = await cri.runtime.listPodSandbox(
    { filter: { labelSelector: { [LABEL.podUid]: uid } } },
    { signal },
  );
  const newest = items.reduce<PodSandbox | undefined>(
    (best, each) => (best === undefined || BigInt(each.createdAt) > BigInt(best.createdAt) ? each : best),
    undefined,
  );
  return newest?.id;
}

function uidOf(sandbox: PodSandbox): string {
  return sandbox.metadata?.uid ?? sandbox.labels[LABEL.podUid] ?? '';
}
