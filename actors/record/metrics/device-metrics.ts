import { counter, histogram } from './metric-spec.ts';

/** What kubelet tells of device plugins, and of those who ask which pod has what. */
export const deviceMetrics = {
  devicePluginRegistrations: counter(
    'kubelet_device_plugin_registration_total',
    'Registrations of device plugins, by resource.',
    ['resource_name'],
  ),
  deviceAllocations: histogram(
    'kubelet_device_plugin_alloc_duration_seconds',
    'Time that a device plugin took to make devices ready for a container, in seconds, by resource.',
    ['resource_name'],
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ),
  podResourcesRequests: podResources('total', 'Requests to the pod-resources API.'),
  podResourcesLists: podResources('list', 'Requests for all pods.'),
  podResourcesAllocatables: podResources('get_allocatable', 'Requests for what there is to be given away.'),
  podResourcesGets: podResources('get', 'Requests for one pod.'),
  podResourcesGetErrors: counter('kubelet_pod_resources_endpoint_errors_get', 'Requests for one pod that failed.', [
    'server_api_version',
  ]),
};

function podResources(what: string, help: string) {
  return counter(`kubelet_pod_resources_endpoint_requests_${what}`, help, ['server_api_version']);
}
