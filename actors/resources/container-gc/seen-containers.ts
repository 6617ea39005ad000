import type { CriClient } from '../../../cri/client/cri-client.ts';
import type { Container } from '../../../cri/generated/runtime/v1/api.ts';
import { ContainerState, PodSandboxState } from '../../../cri/generated/runtime/v1/api.ts';
import type { DeadContainer, Fate, ListedSandbox } from '../../../machines/container-gc/container-gc-context.ts';
import type { ContainerStatus, Pod } from '../../../machines/protocol/api-types.ts';
import { LABEL } from '../../../machines/protocol/runtime-labels.ts';

/** What is known of the pods that a look at the runtime meets. */
export interface KnownPods {
  fate: (uid: string) => Fate;
  /** With its newest status. */
  pod: (uid: string) => Pod | undefined;
  /** The API server is still to hear how it ended, and its containers alone tell that. */
  owes: (uid: string) => boolean;
}

/**
 * All containers that do not run. Of a pod that lives those are needed that it goes by: the newest of each name (its number, how it
 * ended, that it is to be started), and those before it until the pod's status tells of the newest: by then the last words of the
 * others were read. Of one that has ended the newest are needed until the API server has heard of that: an agent that begins in between
 * would have no other word of it.
 */
export function deadContainers(containers: readonly Container[], { fate, pod, owes }: KnownPods): DeadContainer[] {
  const newest = new Map<string, Container>();
  for (const container of containers) {
    const before = newest.get(unitOf(container));
    if (before === undefined || isNewer(container, before)) newest.set(unitOf(container), container);
  }
  return containers.flatMap((container) => {
    if (container.state === ContainerState.CONTAINER_RUNNING) return [];
    const uid = uidOf(container);
    const last = newest.get(unitOf(container)) ?? container;
    const becomes = fate(uid);
    const { name = '', attempt = 0 } = container.metadata ?? {};
    return {
      ...{ id: container.id, uid, name, attempt, createdAt: msOf(container.createdAt), fate: becomes },
      unknown: container.state === ContainerState.CONTAINER_UNKNOWN,
      needed: becomes === 'lives' ? last === container || !tells(pod(uid), last) : last === container && owes(uid),
    };
  });
}

/** All sandboxes, with whether they are of use. `known`: called when the runtime has answered. */
export async function listedSandboxes(
  { runtime }: Pick<CriClient, 'runtime'>,
  known: () => Pick<KnownPods, 'fate'>,
): Promise<ListedSandbox[]> {
  const { containers } = await runtime.listContainers({});
  const holding = new Set(containers.map(({ podSandboxId }) => podSandboxId));
  const { items } = await runtime.listPodSandbox({});
  const { fate } = known();
  return items.map(({ id, metadata, state, createdAt }) => {
    const uid = metadata?.uid ?? '';
    const active = state === PodSandboxState.SANDBOX_READY || holding.has(id);
    return { id, uid, createdAt: msOf(createdAt), active, fate: fate(uid) };
  });
}

/** UID of a container's pod; '' for one that was made without. */
export function uidOf({ labels }: Container): string {
  return labels[LABEL.podUid] ?? '';
}

function unitOf(container: Container): string {
  return `${uidOf(container)}/${container.metadata?.name ?? ''}`;
}

/** By number first: a clock that was set back makes the later one look older. */
function isNewer(a: Container, b: Container): boolean {
  const [first, second] = [a.metadata?.attempt ?? 0, b.metadata?.attempt ?? 0];
  return first === second ? msOf(a.createdAt) > msOf(b.createdAt) : first > second;
}

/** Does the pod's status tell of this container as the one of its name? */
function tells(pod: Pod | undefined, { id, metadata }: Container): boolean {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = pod?.status ?? {};
  const all: ContainerStatus[] = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  return all.some(({ name, containerID = '' }) => name === metadata?.name && containerID.endsWith(`://${id}`));
}

/** Nanoseconds since the epoch as the runtime writes them, in ms. */
function msOf(nanoseconds: string): number {
  return Number(nanoseconds) / 1e6;
}
