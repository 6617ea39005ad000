/** What the table says of series that are not, or not quite, as the reference has them. */
interface Note {
  /** Of the name of the family. */
  match: RegExp;
  text: string;
  /** Rows that the table shows as one, under this name. */
  group?: string;
}

/** Why a family is not served. */
export const NOT_SERVED: readonly Note[] = [
  {
    match: /^go_/,
    group: 'go_*',
    text: "the Go runtime's own (its heap, collector, scheduler, settings); `nodejs_*` tells of the heap and the version here",
  },
  {
    match: /^workqueue_/,
    group: 'workqueue_*',
    text: 'queues inside of client-go (certificate files, log rotation); there are none here',
  },
  {
    match: /^apiserver_(audit|envelope|storage|validation|webhooks)/,
    group: 'apiserver_audit_*, apiserver_envelope_*, apiserver_storage_*, apiserver_validation_*, apiserver_webhooks_*',
    text: 'come with the library of the API server and stay 0 in a kubelet',
  },
  {
    match: /^(aggregator_discovery|cardinality_enforcement|disabled_metrics|hidden_metrics|registered_metrics)/,
    group:
      'aggregator_discovery_*, cardinality_enforcement_*, disabled_metrics_total, hidden_metrics_total, registered_metrics_total',
    text: "they tell of Kubernetes' own metrics library",
  },
  { match: /^rest_client_transport_/, text: 'the cache of connections inside of client-go; here is one connection' },
  { match: /^rest_client_exec_plugin_/, text: 'the certificates of exec plugins are not measured' },
  { match: /^dra_operations/, text: 'only of pods that use ResourceClaims; kubelet measures all others, too' },
  {
    match: /^(force_cleaned|reconstruct)_/,
    text: "no second list of volumes is rebuilt at start: the kernel's table of mounts is the list",
  },
];

/** Served, but with another meaning in a detail. */
export const DIFFERENCES: readonly Note[] = [
  { match: /^kubelet_graceful_shutdown_/, text: '0 until the machine is shut down, as in kubelet' },
  {
    match: /^go_goroutines$/,
    text: "what the main thread's event loop has under way (connections, timers, requests): it grows with a leak, as goroutines do",
  },
  { match: /^go_threads$/, text: 'threads of the process' },
  {
    match: /^kubelet_imagemanager_inmemory_/,
    text: "in percent of what kubelet's cache would hold; here all records are in memory",
  },
  {
    match: /^kubelet_pod_worker_duration_seconds$/,
    text: "one round of a pod's work, from its cause to the end of all effects that it began; no step blocks, so resyncs that find nothing to do take no time",
  },
  {
    match: /^kubelet_pod_start_duration_seconds$/,
    text: 'first sight (`kubernetes.io/config.seen`) to phase Running, once for each pod',
  },
  {
    match: /^kubelet_sleep_action_terminated_early_total$/,
    text: 'a sleep hook that the end of the grace period or of the container cut short',
  },
  {
    match: /^kubelet_started_containers_total$/,
    text: 'an ImagePullBackOff is one start that waits; kubelet counts one more at each sync',
  },
  {
    match: /^kubelet_image_manager_ensure_image_requests_total$/,
    text: 'policy Always does not look first (`present_locally="unknown"`), and its back-off is one wish',
  },
  {
    match: /^kubelet_http_requests_duration_seconds$/,
    text: 'the time until the answer has ended; kubelet reads its clock too early, and tells about 0 s of each request',
  },
  { match: /^kubelet_runtime_operations_/, text: 'a pull that several containers share is one `pull_image`' },
  {
    match: /^kubelet_cgroup_manager_duration_seconds$/,
    text: "`create` makes a pod's cgroup and sets its limits; there is no `update` apart",
  },
  {
    match: /^storage_operation_duration_seconds$/,
    text: 'operations and labels as on kubelet. Volumes that only their pod uses (configMap, emptyDir and the like) are taken down in one piece: each is told how long that took',
  },
  {
    match: /^kubelet_image_volume_/,
    text: 'counted when the runtime was asked to make the container; kubelet also counts starts that ended before',
  },
  {
    match: /^kubelet_started_user_namespaced_pods_errors_total$/,
    text: 'a sandbox that could not be made, or the first failed start of a container in it; kubelet also counts other errors of the same sync',
  },
  { match: /^volume_manager_total_volumes$/, text: 'counted as the workers told within the last second' },
  {
    match: /^kubernetes_build_info$/,
    text: "`git_version` is the Kubernetes release with actorlet's own version, `compiler` names Node.js, what only Go knows is empty",
  },
  { match: /^kubelet_node_startup_/, text: 'as in kubelet, only where this start made the Node object' },
];

/** Families that kubelet and actorlet both serve, but only when there is something to tell; no such pod is in the scrape. */
export const ONLY_WHEN: readonly (readonly [families: string, when: string])[] = [
  ['`kubelet_certificate_manager_client_*`', '`rotateCertificates`'],
  ['`kubelet_certificate_manager_server_*`, `kubelet_server_expiration_renew_errors`', '`serverTLSBootstrap`'],
  ['`prober_*`', 'a probe has run; the series go with the pod'],
  [
    '`kubelet_image_pull_duration_seconds`',
    'an image was pulled; each container that waited for it counts, from its own wish to its image, also when several share a pull',
  ],
  ['`kubelet_run_podsandbox_errors_total`', 'a sandbox could not be made'],
  ['`kubelet_volume_stats_*`', 'a pod with a claim runs'],
  ['`kubelet_credential_provider_*`', '`--image-credential-provider-config`'],
  ['`plugin_manager_total_plugins`', 'a plugin has a socket in `plugins_registry`'],
  ['`kubelet_evictions`', 'a pod was evicted'],
  ['`kubelet_eviction_stats_age_seconds`', 'a pod was evicted because the node ran short'],
];
