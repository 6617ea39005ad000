import type { Pod } from '../protocol/api-types.ts';
import { NamespaceMode } from '../protocol/cri-shapes.ts';
import type { NamespaceOption } from '../protocol/cri-shapes.ts';

/** Which namespaces the pod shares: with the node, within the pod, or (PID only) none between its containers. With `hostUsers: false` its users are its own. */
export function podNamespaces(pod: Pod): NamespaceOption {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } = pod.spec ?? {};
  return {
    network: hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: hostPID ? NamespaceMode.NODE : shareProcessNamespace ? NamespaceMode.POD : NamespaceMode.CONTAINER,
    ipc: hostIPC ? NamespaceMode.NODE : NamespaceMode.POD,
    ...(hostUsers !== undefined && {
      usernsOptions: { mode: hostUsers ? NamespaceMode.NODE : NamespaceMode.POD, uids: [], gids: [] },
    }),
  };
}
