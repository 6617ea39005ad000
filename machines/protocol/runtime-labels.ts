/** Labels by which pods and containers are found again in the runtime (kubelet's kuberuntime labels). */
export const LABEL = {
  podName: 'io.kubernetes.pod.name',
  podNamespace: 'io.kubernetes.pod.namespace',
  podUid: 'io.kubernetes.pod.uid',
  containerName: 'io.kubernetes.container.name',
} as const;

/** Annotations on containers: what an agent must know of one after a restart, without its pod. */
export const ANNOTATION = {
  hash: 'io.kubernetes.container.hash',
  restartCount: 'io.kubernetes.container.restartCount',
  terminationMessagePath: 'io.kubernetes.container.terminationMessagePath',
  terminationMessagePolicy: 'io.kubernetes.container.terminationMessagePolicy',
  preStopHandler: 'io.kubernetes.container.preStopHandler',
  ports: 'io.kubernetes.container.ports',
  deletionGracePeriod: 'io.kubernetes.pod.deletionGracePeriod',
  terminationGracePeriod: 'io.kubernetes.pod.terminationGracePeriod',
} as const;
