import { DEFAULT_BUCKETS, gauge, histogram, counter } from './metric-spec.ts';

/** Seconds; kubelet's buckets of storage operations. */
const STORAGE = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

/** What kubelet's volume manager and its plugins tell. */
export const volumeMetrics = {
  storageOperation: histogram(
    'storage_operation_duration_seconds',
    'Time of one operation on a volume: its set-up (volume_mount), its tear-down (volume_unmount) and others.',
    ['volume_plugin', 'operation_name', 'status', 'migrated'],
    STORAGE,
  ),
  volumeOperation: histogram(
    'volume_operation_total_seconds',
    "Time from the wish for a pod's volumes to a volume's being there.",
    ['plugin_name', 'operation_name'],
    STORAGE,
  ),
  csiOperation: histogram(
    'csi_operations_seconds',
    'Time of one call of a CSI driver.',
    ['driver_name', 'method_name', 'grpc_status_code', 'migrated'],
    STORAGE,
  ),
  totalVolumes: gauge('volume_manager_total_volumes', 'Volumes that are wanted, and volumes that are there.', [
    'plugin_name',
    'state',
  ]),
  seLinuxPodMismatchErrors: gauge(
    'volume_manager_selinux_pod_context_mismatch_errors_total',
    'Pods refused because their containers want one volume with different SELinux labels.',
    ['access_mode'],
  ),
  seLinuxPodMismatchWarnings: gauge(
    'volume_manager_selinux_pod_context_mismatch_warnings_total',
    'Pods that would be, if volumes of all access modes were mounted with labels.',
    ['access_mode'],
  ),
  seLinuxVolumeMismatchErrors: gauge(
    'volume_manager_selinux_volume_context_mismatch_errors_total',
    'Pods refused because another has the volume with another SELinux label.',
    ['volume_plugin', 'access_mode'],
  ),
  seLinuxVolumeMismatchWarnings: gauge(
    'volume_manager_selinux_volume_context_mismatch_warnings_total',
    'Pods that would be, if volumes of all access modes were mounted with labels.',
    ['volume_plugin', 'access_mode'],
  ),
  seLinuxVolumesAdmitted: gauge(
    'volume_manager_selinux_volumes_admitted_total',
    'Volumes with an SELinux label, with which they are or would be mounted.',
    ['volume_plugin', 'access_mode'],
  ),
  volumeCount: histogram(
    'kubelet_volume_metric_collection_duration_seconds',
    'Time to count what a volume holds.',
    ['metric_source'],
    DEFAULT_BUCKETS,
  ),
  imageVolumesRequested: counter(
    'kubelet_image_volume_requested_total',
    'Image volumes of containers that were to be made.',
  ),
  imageVolumesMounted: counter(
    'kubelet_image_volume_mounted_succeed_total',
    'Mounts of image volumes of containers that were made.',
  ),
  imageVolumesFailed: counter(
    'kubelet_image_volume_mounted_errors_total',
    'Mounts of image volumes that the runtime could not make.',
  ),
  orphanPodVolumes: gauge(
    'kubelet_orphan_pod_cleaned_volumes',
    'Folders of pods without an owner that the last round of housekeeping met.',
  ),
  orphanPodVolumeErrors: gauge(
    'kubelet_orphan_pod_cleaned_volumes_errors',
    'Folders of pods without an owner that the last round of housekeeping could not remove.',
  ),
};

/** What cannot happen here yet, and so is 0 as on a kubelet that does not use it; docs/metrics.md names each. */
export const idleMetrics = {
  shutdownStart: gauge('kubelet_graceful_shutdown_start_time_seconds', 'When a node shutdown began; 0: none has.'),
  shutdownEnd: gauge('kubelet_graceful_shutdown_end_time_seconds', 'When a node shutdown ended; 0: none has.'),
};
