/**
 * States in which kubelet's sync of a pod does not come to its pull secrets, or in which each try to pull looks for them anyway: what is before it
 * (`SyncPod`) is the runtime, the network, the pod's cgroup and its volumes.
 */
const WITHOUT: ReadonlySet<string> = new Set([
  ...['syncing.waitingForRuntime', 'syncing.waitingForNetwork', 'syncing.waitingForPlugin', 'syncing.creatingCgroup'],
  ...['syncing.mountingVolumes', 'syncing.pullingImage', 'syncing.imageBackOff'],
]);

/** Does a sync of a pod in this state look for its pull secrets? `state`: of its machine; null when there is none. */
export function looksForSecrets(state: string | null): boolean {
  return state !== null && state.startsWith('syncing.') && !WITHOUT.has(state);
}
