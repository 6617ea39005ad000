import { messageOf } from '../../../machines/values/message-of.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { ContainerState, PodSandboxState } from '../../../cri/generated/runtime/v1/api.ts';
import type {
  Container,
  ContainerStats as CriContainerStats,
  LinuxPodSandboxStats,
  PodSandbox,
} from '../../../cri/generated/runtime/v1/api.ts';

/** Running containers and the sandboxes that count, by id. */
export interface RunningThings {
  containers: ReadonlyMap<string, Container>;
  sandboxes: ReadonlyMap<string, PodSandbox>;
}

/** For a look at the node alone. */
export const NOTHING: RunningThings = { containers: new Map(), sandboxes: new Map() };

/** A running container with what the runtime tells of its usage. */
export interface MeasuredContainer {
  container: Container;
  stats: CriContainerStats;
}

/** A pod that has such containers. */
export interface MeasuredPod {
  sandbox: PodSandbox;
  containers: MeasuredContainer[];
  /** What the runtime tells of the pod itself, where it is asked for that: no cgroup is looked at then. */
  told?: LinuxPodSandboxStats;
}

/**
 * Two calls, at the same time: containers that run, and sandboxes without those that have a living successor.
 * @throws Error with kubelet's words around the runtime's
 */
export async function listRunning(cri: Pick<CriClient, 'runtime'>): Promise<RunningThings> {
  const [containers, sandboxes] = await Promise.all([
    worded('failed to list all containers', runningContainers(cri)),
    worded(
      'failed to list all pod sandboxes',
      cri.runtime.listPodSandbox({}).then(({ items }) => items),
    ),
  ]).catch((cause: unknown) => {
    throw new Error(`failed to get pod or container map: ${messageOf(cause)}`, { cause });
  });
  return {
    containers: new Map(containers.map((container) => [container.id, container])),
    sandboxes: new Map(countedSandboxes(sandboxes).map((sandbox) => [sandbox.id, sandbox])),
  };
}

/** The usage of all containers, in one call; or of the one with this id. @throws Error with kubelet's words */
export function listUsage(cri: Pick<CriClient, 'runtime'>, id = ''): Promise<CriContainerStats[]> {
  return worded(
    'failed to list all container stats',
    cri.runtime.listContainerStats({ filter: { id } }).then(({ stats }) => stats),
  );
}

/** Joins them; of containers that ended meanwhile and of sandboxes that do not count nothing is told. */
export function measuredPods(running: RunningThings, stats: readonly CriContainerStats[]): MeasuredPod[] {
  const pods = new Map<string, MeasuredPod>();
  for (const each of stats) {
    const container = running.containers.get(each.attributes?.id ?? '');
    const sandbox = container && running.sandboxes.get(container.podSandboxId);
    if (container === undefined || sandbox === undefined) continue;
    let pod = pods.get(sandbox.id);
    if (pod === undefined) pods.set(sandbox.id, (pod = { sandbox, containers: [] }));
    pod.containers.push({ container, stats: each });
  }
  return [...pods.values()];
}

/**
 * kubelet's removeTerminatedPods: of several sandboxes of the same name and namespace those that are ready, or the newest
 * when none is. One alone counts, whatever its state.
 */
export function countedSandboxes(sandboxes: readonly PodSandbox[]): PodSandbox[] {
  const groups = new Map<string, PodSandbox[]>();
  for (const sandbox of [...sandboxes].sort((a, b) => Number(a.createdAt) - Number(b.createdAt))) {
    const key = `${sandbox.metadata?.namespace ?? ''}/${sandbox.metadata?.name ?? ''}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [sandbox]);
    else group.push(sandbox);
  }
  return [...groups.values()].flatMap((group) => {
    if (group.length === 1) return group;
    const ready = group.filter(({ state }) => state === PodSandboxState.SANDBOX_READY);
    return ready.length > 0 ? ready : group.slice(-1);
  });
}

/** The promise, its error with words in front as Go's wrapping does. */
export async function worded<T>(words: string, promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (cause) {
    throw new Error(`${words}: ${messageOf(cause)}`, { cause });
  }
}

async function runningContainers(cri: Pick<CriClient, 'runtime'>): Promise<Container[]> {
  const filter = { state: { state: ContainerState.CONTAINER_RUNNING } };
  const { containers } = await cri.runtime.listContainers({ filter });
  return containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
}
