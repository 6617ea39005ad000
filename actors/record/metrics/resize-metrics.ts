import { counter, gauge, histogram } from './metric-spec.ts';

/** What kubelet tells of resizes in place (KEP-1287). */
export const resizeMetrics = {
  requestedResizes: counter(
    'kubelet_container_requested_resizes_total',
    'Wishes for other resources of a container; each resource, and requests and limits, count by themselves.',
    ['resource', 'requirement', 'operation'],
  ),
  resizeDuration: histogram(
    'kubelet_pod_resize_duration_milliseconds',
    'Time from the allocation of a resize to its end, or to its first failure, in milliseconds.',
    ['success'],
    [10, 50, 100, 500, 1000, 2000, 5000, 10000, 20000, 30000, 60000, 120000, 300000, 600000],
  ),
  pendingResizes: gauge('kubelet_pod_pending_resizes', 'Resizes of pods that wait, or cannot be done.', ['reason']),
  infeasibleResizes: counter(
    'kubelet_pod_infeasible_resizes_total',
    'Resizes of pods that were found impossible on this node.',
    ['reason_detail'],
  ),
  resizes: gauge('kubelet_pod_in_progress_resizes', 'Resizes of pods that are being put in force.'),
  acceptedResizes: counter(
    'kubelet_pod_deferred_accepted_resizes_total',
    'Resizes of pods that waited and were accepted, by what made the node look at them again.',
    ['retry_trigger'],
  ),
};
