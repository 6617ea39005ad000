import type { FlagSpec } from './flag-spec.ts';

/** The node and the agent itself. */
export const nodeFlags: readonly FlagSpec[] = [
  { name: 'config', kind: 'string', group: 'Node', acts: true, usage: 'configuration file (KubeletConfiguration, YAML or JSON)' },
  { name: 'config-dir', kind: 'string', group: 'Node', acts: true, usage: 'folder of drop-ins (*.conf), merged over that file in the order of their names' },
  { name: 'root-dir', kind: 'string', group: 'Node', preset: '/var/lib/kubelet', acts: true, usage: 'folder for all files of the agent' },
  { name: 'hostname-override', kind: 'string', group: 'Node', acts: true, usage: 'name of the node, instead of the host\'s name' },
  { name: 'node-ip', kind: 'string', group: 'Node', acts: true, usage: 'address of the node, or one of each family with a comma between; :: prefers IPv6' },
  { name: 'node-labels', kind: 'map', group: 'Node', acts: true, usage: 'labels of the node, as key=value' },
  { name: 'cluster-dns', kind: 'list', group: 'Node', field: 'clusterDNS', deprecated: 'file', acts: true, usage: 'DNS servers for pods with dnsPolicy ClusterFirst' },
  { name: 'cluster-domain', kind: 'string', group: 'Node', field: 'clusterDomain', deprecated: 'file', acts: true, usage: 'DNS domain of the cluster, added to search lists' },
  { name: 'resolv-conf', kind: 'string', group: 'Node', field: 'resolvConf', preset: '/etc/resolv.conf', deprecated: 'file', acts: true, usage: 'resolver file that pods inherit from' },
  { name: 'fail-swap-on', kind: 'bool', group: 'Node', field: 'failSwapOn', preset: 'true', deprecated: 'file', acts: true, usage: 'refuse to start while swap is on' },
  { name: 'fail-cgroupv1', kind: 'bool', group: 'Node', field: 'failCgroupV1', preset: 'true', acts: true, usage: 'refuse to start on a machine with cgroup v1' },
  { name: 'oom-score-adj', kind: 'int', group: 'Node', field: 'oomScoreAdj', preset: '-999', deprecated: 'file', acts: true, usage: 'oom_score_adj of the agent' },
  { name: 'max-open-files', kind: 'int', group: 'Node', field: 'maxOpenFiles', preset: '1000000', deprecated: 'file', acts: true, usage: 'limit of open files of the agent' },
  { name: 'feature-gates', kind: 'gates', group: 'Node', field: 'featureGates', deprecated: 'file', acts: true, usage: 'feature gates, as name=true|false; AllAlpha and AllBeta set whole stages' },
  { name: 'provider-id', kind: 'string', group: 'Node', field: 'providerID', acts: false, usage: 'id of the machine at its cloud provider' },
  { name: 'lock-file', kind: 'string', group: 'Node', acts: false, usage: 'lock file that only one agent can hold' },
  { name: 'exit-on-lock-contention', kind: 'bool', group: 'Node', preset: 'false', acts: false, usage: 'end when another process wants the lock file' },
];
