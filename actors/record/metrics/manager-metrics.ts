import { counter, exponentialBuckets, gauge, histogram } from './metric-spec.ts';

const SCOPE = ['scope', 'boundary'] as const;
/** Milliseconds: 0.05 to 819.2, each twice the one before. */
const ADMISSION = exponentialBuckets(0.05, 2, 15);

/** What kubelet's CPU, memory and topology managers tell. */
export const managerMetrics = {
  cpuManagerExclusive: gauge(
    'kubelet_cpu_manager_exclusive_cpu_allocation_count',
    'CPUs that containers have for themselves.',
  ),
  cpuManagerShared: gauge(
    'kubelet_cpu_manager_shared_pool_size_millicores',
    'CPUs that the static policy leaves for all and could still give away.',
  ),
  cpuManagerPerNode: gauge(
    'kubelet_cpu_manager_allocation_per_numa',
    'CPUs of a NUMA node that containers have for themselves.',
    ['numa_node'],
  ),
  cpuManagerRequests: counter('kubelet_cpu_manager_pinning_requests_total', 'Wishes for CPUs of their own.'),
  cpuManagerErrors: counter('kubelet_cpu_manager_pinning_errors_total', 'Such wishes that failed.'),
  memoryManagerRequests: counter('kubelet_memory_manager_pinning_requests_total', 'Wishes for memory of NUMA nodes.'),
  memoryManagerErrors: counter('kubelet_memory_manager_pinning_errors_total', 'Such wishes that failed.'),
  topologyRequests: counter(
    'kubelet_topology_manager_admission_requests_total',
    'Pods whose CPUs and memory were to be aligned.',
  ),
  topologyErrors: counter(
    'kubelet_topology_manager_admission_errors_total',
    'Pods whose CPUs and memory could not be aligned.',
  ),
  topologyDuration: histogram(
    'kubelet_topology_manager_admission_duration_ms',
    'Time to align one pod, milliseconds.',
    [],
    ADMISSION,
  ),
  alignedResources: counter(
    'kubelet_container_aligned_compute_resources_count',
    'CPUs and memory that were given within a boundary.',
    SCOPE,
  ),
  unalignedResources: counter(
    'kubelet_container_aligned_compute_resources_failure_count',
    'CPUs and memory that could not be given within a boundary.',
    SCOPE,
  ),
};
