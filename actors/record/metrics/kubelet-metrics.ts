import { counter, exponentialBuckets, gauge, histogram } from './metric-spec.ts';

/** Seconds; kubelet's pod start buckets. */
const POD_START = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];
/** Seconds; kubelet's image pull buckets. */
const IMAGE_PULL = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600];

/**
 * The kubelet's own metrics (v1.35, pkg/kubelet/metrics and pkg/kubelet/prober): names, types, labels and buckets are an
 * interface that dashboards and alerts stand on and must not change; the help texts are ours.
 */
export const kubeletMetrics = {
  nodeName: gauge('kubelet_node_name', 'Always 1; the label carries the name of this node.', ['node']),
  cgroupVersion: gauge('kubelet_cgroup_version', 'Version of the cgroup hierarchy of this host: 1 or 2.'),

  httpRequests: counter(
    'kubelet_http_requests_total',
    'Requests to the servers of the kubelet, by method, first part of the path, server and whether they are streams.',
    ['method', 'path', 'server_type', 'long_running'],
  ),
  httpInflightRequests: gauge('kubelet_http_inflight_requests', 'Requests that are being answered.', [
    'method',
    'path',
    'server_type',
    'long_running',
  ]),
  httpRequestsDuration: histogram('kubelet_http_requests_duration_seconds', 'Time to serve a request.', [
    'method',
    'path',
    'server_type',
    'long_running',
  ]),

  podStartDuration: histogram(
    'kubelet_pod_start_duration_seconds',
    'Time from the first sight of a pod to its running.',
    [],
    POD_START,
  ),
  podStartSliDuration: histogram(
    'kubelet_pod_start_sli_duration_seconds',
    "Time from a pod's creation to all its containers' running as a watch shows it, without its image pulls.",
    [],
    POD_START,
  ),
  podStartTotalDuration: histogram(
    'kubelet_pod_start_total_duration_seconds',
    "Time from a pod's creation to all its containers' running as a watch shows it, image pulls included.",
    [],
    POD_START,
  ),
  firstNetworkPodStart: gauge(
    'kubelet_first_network_pod_start_sli_duration_seconds',
    'The first value of kubelet_pod_start_sli_duration_seconds of a pod with a network of its own.',
  ),
  podWorkerDuration: histogram(
    'kubelet_pod_worker_duration_seconds',
    "Time of one round of a pod's work, from its cause to the end of all that it began: create, update, sync or terminated.",
    ['operation_type'],
  ),
  podWorkerStartDuration: histogram(
    'kubelet_pod_worker_start_duration_seconds',
    'Time from the first sight of a pod to the start of its worker.',
  ),
  podStatusSyncDuration: histogram(
    'kubelet_pod_status_sync_duration_seconds',
    'Time from a change of a pod status to its arrival at the API server.',
    [],
    [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60],
  ),
  containersPerPod: histogram(
    'kubelet_containers_per_pod_count',
    'Containers of each pod that was accepted.',
    [],
    exponentialBuckets(1, 2, 5),
  ),
  cgroupManagerDuration: histogram(
    'kubelet_cgroup_manager_duration_seconds',
    'Time of one cgroup operation: create, update or destroy.',
    ['operation_type'],
  ),

  plegRelistDuration: histogram('kubelet_pleg_relist_duration_seconds', 'Time of one relist of all pods in PLEG.'),
  plegRelistInterval: histogram('kubelet_pleg_relist_interval_seconds', 'Time between two relists in PLEG.'),
  plegDiscardEvents: counter('kubelet_pleg_discard_events', 'PLEG events that were dropped because nobody took them.'),
  plegLastSeen: gauge('kubelet_pleg_last_seen_seconds', 'When PLEG was last active, in seconds since the epoch.'),
  eventedPlegConnectionErrors: counter(
    'kubelet_evented_pleg_connection_error_count',
    'Failed attempts to open the stream of container events.',
  ),
  eventedPlegConnections: counter(
    'kubelet_evented_pleg_connection_success_count',
    'Successful openings of the stream of container events.',
  ),
  eventedPlegConnectionLatency: histogram(
    'kubelet_evented_pleg_connection_latency_seconds',
    'Age of a container event of the runtime when it is handled.',
  ),

  criLosingSupport: gauge(
    'kubelet_cri_losing_support',
    'Kubernetes release from which on this container runtime is too old; no series: it is not.',
    ['version'],
  ),

  runningPods: gauge('kubelet_running_pods', 'Pods that have a ready sandbox.'),
  runningContainers: gauge('kubelet_running_containers', 'Containers by state: created, running, exited, unknown.', [
    'container_state',
  ]),
  desiredPods: gauge('kubelet_desired_pods', 'Pods that the sources want here; static pods apart.', ['static']),
  activePods: gauge('kubelet_active_pods', 'Pods that hold resources here; static pods apart.', ['static']),
  mirrorPods: gauge('kubelet_mirror_pods', 'Mirror pods that stand for static pods.'),
  workingPods: gauge('kubelet_working_pods', 'Pods being worked on, by phase of life, by source, static pods apart.', [
    'lifecycle',
    'config',
    'static',
  ]),
  orphanedRuntimePods: counter(
    'kubelet_orphaned_runtime_pods_total',
    'Pods found in the runtime that no source knows, and that were ended.',
  ),
  restartedPods: counter(
    'kubelet_restarted_pods_total',
    'Pods that were deleted and made again under the same UID while their end was still under way.',
    ['static'],
  ),

  startedPods: counter('kubelet_started_pods_total', 'Pod sandboxes that were started.'),
  startedPodErrors: counter('kubelet_started_pods_errors_total', 'Pod sandboxes that could not be started.'),
  startedUserNamespacedPods: counter(
    'kubelet_started_user_namespaced_pods_total',
    'Sandboxes of pods with users of their own (`hostUsers: false`) that were started.',
  ),
  startedUserNamespacedPodErrors: counter(
    'kubelet_started_user_namespaced_pods_errors_total',
    'Such sandboxes that could not be started.',
  ),
  startedContainers: counter('kubelet_started_containers_total', 'Containers that were started, by kind.', [
    'container_type',
  ]),
  startedContainerErrors: counter(
    'kubelet_started_containers_errors_total',
    'Containers that could not be started, by kind and by reason.',
    ['container_type', 'code'],
  ),
  runPodSandboxDuration: histogram('kubelet_run_podsandbox_duration_seconds', 'Time of one RunPodSandbox call.', [
    'runtime_handler',
  ]),
  runPodSandboxErrors: counter('kubelet_run_podsandbox_errors_total', 'RunPodSandbox calls that failed.', [
    'runtime_handler',
  ]),
  managedEphemeralContainers: gauge('kubelet_managed_ephemeral_containers', 'Ephemeral containers in the pods here.'),

  runtimeOperations: counter('kubelet_runtime_operations_total', 'Calls to the runtime, by operation.', [
    'operation_type',
  ]),
  runtimeOperationDuration: histogram(
    'kubelet_runtime_operations_duration_seconds',
    'Time of a call to the runtime, by operation.',
    ['operation_type'],
    exponentialBuckets(0.005, 2.5, 14),
  ),
  runtimeOperationErrors: counter('kubelet_runtime_operations_errors_total', 'Calls to the runtime that failed.', [
    'operation_type',
  ]),
  imagePullDuration: histogram(
    'kubelet_image_pull_duration_seconds',
    'Time of an image pull, its wait in the queue included, by size of the image.',
    ['image_size_in_bytes'],
    IMAGE_PULL,
  ),

  ensureImageRequests: counter(
    'kubelet_image_manager_ensure_image_requests_total',
    'Starts of containers by what became of their image: was it there, and had it to be pulled.',
    ['present_locally', 'pull_policy', 'pull_required'],
  ),
  imagesCollected: counter(
    'kubelet_image_garbage_collected_total',
    'Images that were removed since nobody had used them for long, or since their disk was too full.',
    ['reason'],
  ),
  imageMustPullChecks: counter(
    'kubelet_imagemanager_image_mustpull_checks_total',
    'Looks at whether a pod may use an image that is on the node, by how they ended.',
    ['result'],
  ),
  pullIntents: gauge('kubelet_imagemanager_ondisk_pullintents', 'Image pulls under way, as recorded on disk.'),
  pulledRecords: gauge('kubelet_imagemanager_ondisk_pulledrecords', 'Images that were pulled, as recorded on disk.'),
  pullIntentsUsage: gauge(
    'kubelet_imagemanager_inmemory_pullintents_usage_percent',
    "Image pulls under way, in percent of what kubelet's cache would hold.",
  ),
  pulledRecordsUsage: gauge(
    'kubelet_imagemanager_inmemory_pulledrecords_usage_percent',
    "Images that were pulled, in percent of what kubelet's cache would hold.",
  ),

  lifecycleHttpFallbacks: counter(
    'kubelet_lifecycle_handler_http_fallbacks_total',
    'Lifecycle hooks that were served over http after https had failed.',
  ),
  sleepActionEndedEarly: counter(
    'kubelet_sleep_action_terminated_early_total',
    'Sleep hooks that were ended before their time.',
  ),
  evictions: counter('kubelet_evictions', 'Pods that were evicted, by signal.', ['eviction_signal']),
  preemptions: counter('kubelet_preemptions', 'Pods that gave way to a critical pod, by the resource that was short.', [
    'preemption_signal',
  ]),
  evictionStatsAge: histogram(
    'kubelet_eviction_stats_age_seconds',
    'Age of the stats by which pods were chosen to be evicted, by signal.',
    ['eviction_signal'],
  ),
  admissionRejections: counter('kubelet_admission_rejections_total', 'Pods that were not admitted, by reason.', [
    'reason',
  ]),

  probes: counter('prober_probe_total', 'Probe runs, by probe, by result and by container.', [
    'probe_type',
    'result',
    'container',
    'pod',
    'namespace',
    'pod_uid',
  ]),
  probeDuration: histogram('prober_probe_duration_seconds', 'Time of a successful probe.', [
    'probe_type',
    'container',
    'pod',
    'namespace',
  ]),

  nodeStartup: gauge(
    'kubelet_node_startup_duration_seconds',
    "Time from the machine's boot to the node's being ready.",
  ),
  nodeStartupPreKubelet: gauge(
    'kubelet_node_startup_pre_kubelet_duration_seconds',
    "Time from the machine's boot to the start of the agent.",
  ),
  nodeStartupPreRegistration: gauge(
    'kubelet_node_startup_pre_registration_duration_seconds',
    "Time from the agent's start to its first try to register the node.",
  ),
  nodeStartupRegistration: gauge(
    'kubelet_node_startup_registration_duration_seconds',
    'Time from the first try to register the node to its success.',
  ),
  nodeStartupPostRegistration: gauge(
    'kubelet_node_startup_post_registration_duration_seconds',
    "Time from the node's registration to its being ready.",
  ),

  featureEnabled: gauge('kubernetes_feature_enabled', 'Feature gates: 1 when on, 0 when off.', ['name', 'stage']),
  buildInfo: gauge('kubernetes_build_info', 'Always 1; the labels say which build this is.', [
    'major',
    'minor',
    'git_version',
    'git_commit',
    'git_tree_state',
    'build_date',
    'go_version',
    'compiler',
    'platform',
  ]),
};

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const IMAGE_SIZES: readonly (readonly [above: number, label: string])[] = [
  [100 * GIB, 'GT100GB'],
  [60 * GIB, '60GB-100GB'],
  [40 * GIB, '40GB-60GB'],
  [30 * GIB, '30GB-40GB'],
  [20 * GIB, '20GB-30GB'],
  [10 * GIB, '10GB-20GB'],
  [5 * GIB, '5GB-10GB'],
  [GIB, '1GB-5GB'],
  [500 * MIB, '500MB-1GB'],
  [100 * MIB, '100MB-500MB'],
  [10 * MIB, '10MB-100MB'],
];

/** Label `image_size_in_bytes` of {@link kubeletMetrics.imagePullDuration}; 0 bytes = the size is not known. */
export function imageSizeLabel(bytes: number): string {
  if (bytes === 0) return 'N/A';
  return IMAGE_SIZES.find(([above]) => bytes > above)?.[1] ?? '0-10MB';
}
