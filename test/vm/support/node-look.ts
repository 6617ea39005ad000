import type { ContainerStatus, Pod } from '../../../machines/protocol/api-types.ts';
import { podCgroups } from './cgroup-tree.ts';
import type { Machine } from './machine.ts';
import { manifestName } from './node-in-vm.ts';
import type { NodeInVm } from './node-in-vm.ts';

/** What a node says of a pod. Containers: `NAME: how it is, restarts N, before: how its former one ended`. */
export interface ToldPod {
  readonly phase: string;
  readonly containers: readonly string[];
  readonly conditions: Readonly<Record<string, string>>;
}

/** What the machine has of the node's pods. Pods' UIDs are replaced by their names. */
export interface MachineLook {
  /** Names of CRI (container, pod, namespace, UID, attempt) of what runs. */
  readonly running: readonly string[];
  readonly slices: readonly string[];
  /** Mounts below the kubelet's directory. */
  readonly mounts: readonly string[];
  /** Network namespaces, and leases of addresses: how many. */
  readonly namespaces: number;
  readonly leases: number;
  /** Lines that containers have written, sorted: those that begin side by side do so in any order. `POD/VOLUME: NAME ...`. */
  readonly written: readonly string[];
}

/** What the node says of each pod, by the name in the manifest. */
export async function toldPods(node: NodeInVm): Promise<Record<string, ToldPod>> {
  const pods = (await node.pods()).map((pod): [string, ToldPod] => [manifestName(pod), toldPod(pod)]);
  return Object.fromEntries(pods.sort(([a], [b]) => a.localeCompare(b)));
}

/** How the pods' containers are, `NAME: runs` or `NAME: exit CODE`, in the order of the definition. */
export function states({ status }: Pod): string[] {
  return statuses(status).map(({ name, state }) => `${name}: ${stateOf(state)}`);
}

export async function machineLook(machine: Machine, node: NodeInVm): Promise<MachineLook> {
  const names = new Map((await node.pods()).map((pod) => [pod.metadata?.uid ?? '', manifestName(pod)]));
  const plain = (text: string) => {
    let out = text;
    for (const [uid, name] of names) out = out.replaceAll(uid, name).replaceAll(uid.replaceAll('-', '_'), name);
    return out
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .sort();
  };
  const count = async (command: string) => Number(await machine.run(`${command} 2> /dev/null | wc -l`));
  const kubeletDir = '/var/lib/kubelet/pods';
  return {
    running: plain(await machine.run(RUNNING)),
    slices: plain(Object.keys(await podCgroups(machine, { slices: true })).join('\n')),
    mounts: plain(await machine.run(`awk '{print $2}' /proc/mounts | grep ^${kubeletDir} || true`)),
    namespaces: await count('ls /run/netns'),
    leases: await count('ls /var/lib/cni/networks/vm | grep ^10'),
    written: plain(
      await machine.run(
        `cd ${kubeletDir} && for file in */volumes/kubernetes.io~empty-dir/*/starts; do echo $file: $(sort $file); done`,
      ),
    ),
  };
}

/** Names that containerd's CRI gave what has a running task; they stand in its own metadata. */
const RUNNING = `for id in $(ctr -n k8s.io task ls | awk '$3 == "RUNNING" {print $1}'); do
  ctr -n k8s.io container info $id | tr -d '\\n ' | grep -o '"value":"[A-Za-z0-9+/=]*"' | cut -d'"' -f4 | base64 -d |
    grep -o '"Name":"[^"]*_[0-9]*"' | head -n 1 | cut -d'"' -f4
done`;

function toldPod({ status }: Pod): ToldPod {
  return {
    phase: status?.phase ?? 'none',
    containers: statuses(status).map(
      ({ name, state, restartCount, lastState }) =>
        `${name}: ${stateOf(state)}, restarts ${restartCount}, before: ${stateOf(lastState)}`,
    ),
    conditions: Object.fromEntries(
      (status?.conditions ?? [])
        .map(({ type, status: value, reason }): [string, string] => [type, `${value} ${reason ?? ''}`.trim()])
        .sort(([a], [b]) => a.localeCompare(b)),
    ),
  };
}

function statuses(status: Pod['status']): ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

function stateOf(state: ContainerStatus['state']): string {
  if (state?.running) return 'runs';
  if (state?.terminated) return `exit ${state.terminated.exitCode}`;
  return state?.waiting ? `waits (${state.waiting.reason})` : 'none';
}
