import { join } from 'node:path';

/** The agent under a node: ours, or the reference. */
export type AgentKind = 'actorlet' | 'kubelet';

/** `CLUSTER_AGENT=kubelet` runs the scenarios on the reference kubelet, to check the scenarios themselves. */
export function agentUnderTest(): AgentKind {
  const wanted = process.env['CLUSTER_AGENT'] ?? 'actorlet';
  if (wanted !== 'actorlet' && wanted !== 'kubelet') {
    throw new Error(`CLUSTER_AGENT=${wanted}: accepted are actorlet and kubelet`);
  }
  return wanted;
}

/** What a node's configuration is made from. */
export interface NodeConfigWish {
  agent: AgentKind;
  endpoint: string;
  rootDir: string;
  cgroupRoot: string;
  caFile: string;
  cert: string;
  key: string;
  ports: NodePorts;
  more: Record<string, unknown>;
}

/** Ports of an agent's servers. */
export interface NodePorts {
  port: number;
  readOnlyPort: number;
  healthzPort: number;
}

/** The KubeletConfiguration, the same for both agents but for what the reference needs on these machines. */
export function nodeConfig(wish: NodeConfigWish): Record<string, unknown> {
  const featureGates = wish.more['featureGates'] as Record<string, boolean> | undefined;
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    ...wish.ports,
    containerRuntimeEndpoint: wish.endpoint,
    staticPodPath: join(wish.rootDir, 'manifests'),
    podLogsDir: join(wish.rootDir, 'pod-logs'),
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: wish.caFile },
    },
    authorization: { mode: 'Webhook' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: wish.cgroupRoot,
    failCgroupV1: false,
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    clusterDNS: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
    registryPullQPS: 0,
    tlsCertFile: wish.cert,
    tlsPrivateKeyFile: wish.key,
    maxPods: 250,
    kubeAPIQPS: 50,
    kubeAPIBurst: 100,
    fileCheckFrequency: '1s',
    logging: { format: 'json', verbosity: 2 },
    // The reference mounts changed objects at its next look at the pod only.
    ...(wish.agent === 'kubelet' && { syncFrequency: '5s' }),
    ...wish.more,
    ...(wish.agent === 'kubelet' && { featureGates: { KubeletInUserNamespace: true, ...featureGates } }),
  };
}
