import type { MetricPage } from './metrics-scenario.ts';

/** Series that alerts, recording rules and dashboards of the Kubernetes monitoring mix-in ask of kubelets. */
export interface MixinSeries {
  /** As queries spell it. */
  series: string;
  page: MetricPage;
  /** Labels that queries select or group by; `job`, `instance`, `cluster`, `node` and `metrics_path` are Prometheus'. */
  labels?: readonly string[];
  /** Who asks. */
  asked: string;
  /** Set when only some machines have it: which. The test passes where it is missing there. */
  where?: string;
  /** Set when no scrape has it: why. */
  absent?: string;
}

const CONTAINER = ['namespace', 'pod', 'container'];
const IMAGE = [...CONTAINER, 'image'];
const INTERFACE = ['namespace', 'pod', 'interface'];
const CLAIM = ['namespace', 'persistentvolumeclaim'];
const OPERATION = ['operation_type'];
const STORAGE = ['operation_name', 'volume_plugin'];
const NO_CLAIM = 'only while a pod with a claim runs, as in kubelet';
const RARE = 'only once it has happened, as in kubelet';

const main = (series: string, asked: string, labels: readonly string[] = []): MixinSeries => ({
  ...{ series, page: '/metrics', labels, asked },
});
const cadvisor = (series: string, asked: string, labels: readonly string[]): MixinSeries => ({
  ...{ series, page: '/metrics/cadvisor', labels, asked },
});

/** Written down from knowledge of the mix-in (kubernetes-mixin, as of 2025). */
export const MIXIN_SERIES: readonly MixinSeries[] = [
  main('kubelet_node_name', 'rules and alerts that join the name of the node', ['node']),
  main('kubelet_pleg_relist_duration_seconds_bucket', 'alert KubeletPlegDurationHigh, dashboard kubelet', ['le']),
  main('kubelet_pleg_relist_duration_seconds_count', 'dashboard kubelet'),
  main('kubelet_pleg_relist_interval_seconds_bucket', 'dashboard kubelet', ['le']),
  main('kubelet_pod_worker_duration_seconds_bucket', 'alert KubeletPodStartUpLatencyHigh, dashboard kubelet', [
    ...['le', 'operation_type'],
  ]),
  main('kubelet_pod_worker_duration_seconds_count', 'dashboard kubelet', OPERATION),
  main('kubelet_pod_start_duration_seconds_bucket', 'dashboard kubelet', ['le']),
  main('kubelet_pod_start_duration_seconds_count', 'dashboard kubelet'),
  main('kubelet_certificate_manager_client_ttl_seconds', 'alert KubeletClientCertificateExpiration'),
  main('kubelet_certificate_manager_server_ttl_seconds', 'alert KubeletServerCertificateExpiration'),
  main('kubelet_certificate_manager_client_expiration_renew_errors', 'alert KubeletClientCertificateRenewalErrors'),
  main('kubelet_server_expiration_renew_errors', 'alert KubeletServerCertificateRenewalErrors'),
  { ...main('kubelet_evictions', 'alert KubeNodeEviction', ['eviction_signal']), absent: RARE },
  main('kubelet_running_pods', 'dashboard kubelet'),
  main('kubelet_running_containers', 'dashboard kubelet', ['container_state']),
  main('volume_manager_total_volumes', 'dashboard kubelet', ['state', 'plugin_name']),
  { ...main('kubelet_node_config_error', 'dashboard kubelet'), absent: 'taken out of kubelet in v1.24' },
  main('kubelet_runtime_operations_total', 'dashboard kubelet', OPERATION),
  main('kubelet_runtime_operations_errors_total', 'dashboard kubelet', OPERATION),
  main('kubelet_runtime_operations_duration_seconds_bucket', 'dashboard kubelet', ['le', ...OPERATION]),
  main('storage_operation_duration_seconds_count', 'dashboard kubelet', STORAGE),
  main('storage_operation_duration_seconds_bucket', 'dashboard kubelet', ['le', ...STORAGE]),
  {
    ...main('storage_operation_errors_total', 'dashboard kubelet', STORAGE),
    absent: 'taken out of kubelet in v1.21: storage_operation_duration_seconds has the label status',
  },
  main('kubelet_cgroup_manager_duration_seconds_count', 'dashboard kubelet', OPERATION),
  main('kubelet_cgroup_manager_duration_seconds_bucket', 'dashboard kubelet', ['le', ...OPERATION]),
  main('rest_client_requests_total', 'alert KubeClientErrors, dashboard kubelet', ['code', 'method', 'host']),
  main('rest_client_request_duration_seconds_bucket', 'dashboard kubelet', ['le', 'verb']),
  main('process_resident_memory_bytes', 'dashboard kubelet'),
  main('process_cpu_seconds_total', 'dashboard kubelet'),
  main('go_goroutines', 'dashboard kubelet'),
  main('kubernetes_build_info', 'alert KubeVersionMismatch', ['git_version']),
  ...['available_bytes', 'capacity_bytes', 'used_bytes', 'inodes', 'inodes_free', 'inodes_used'].map((figure) => ({
    ...main(`kubelet_volume_stats_${figure}`, 'alerts KubePersistentVolume*, dashboard persistent volumes', CLAIM),
    absent: NO_CLAIM,
  })),

  cadvisor('container_cpu_usage_seconds_total', 'rules k8s.rules, dashboards resources', IMAGE),
  ...['working_set_bytes', 'rss', 'cache', 'swap'].map((figure) =>
    cadvisor(`container_memory_${figure}`, 'rules k8s.rules, dashboards resources', IMAGE),
  ),
  cadvisor('container_cpu_cfs_periods_total', 'alert CPUThrottlingHigh, dashboard pod', CONTAINER),
  cadvisor('container_cpu_cfs_throttled_periods_total', 'alert CPUThrottlingHigh, dashboard pod', CONTAINER),
  ...['reads_total', 'writes_total', 'reads_bytes_total', 'writes_bytes_total'].map((figure) => ({
    ...cadvisor(`container_fs_${figure}`, 'dashboards resources', [...CONTAINER, 'device', 'id']),
    where:
      "where the kernel counts the block devices' traffic by cgroup; not on the machine of these scrapes, for either agent",
  })),
  ...['receive', 'transmit'].flatMap((way) =>
    ['bytes', 'packets', 'packets_dropped'].map((figure) =>
      cadvisor(`container_network_${way}_${figure}_total`, 'dashboards network and resources', INTERFACE),
    ),
  ),
];
