import { counter, histogram } from './metric-spec.ts';

/** What kubelet tells of device plugins. */
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
};
