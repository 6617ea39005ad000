import { counter, gauge, spec } from './family.ts';
import type {
  CpuReading,
  MemoryReading,
  Pressure,
  ProcessReading,
} from '../../resources/cgroup-stats/cgroup-reading.ts';
import type { ContainerEntry } from './container-entry.ts';
import type { ContainerFamily } from './family.ts';

const ns = (value: number | undefined) => (value === undefined ? undefined : value / 1e9);
const cpu = (field: keyof CpuReading) => (entry: ContainerEntry) => entry.reading.cpu?.[field] ?? undefined;
/** cAdvisor has no CFS series for a cgroup without quota. */
const quota = (field: keyof CpuReading) => (entry: ContainerEntry) =>
  entry.reading.cpu?.quotaUs == null ? undefined : (entry.reading.cpu[field] ?? undefined);
const memory = (field: keyof MemoryReading) => (entry: ContainerEntry) => entry.reading.memory?.[field] ?? undefined;
/** No limit is written as 0. */
const limit = (field: keyof MemoryReading) => (entry: ContainerEntry) =>
  entry.reading.memory === undefined ? undefined : (entry.reading.memory[field] ?? 0);
const processes = (field: keyof ProcessReading) => (entry: ContainerEntry) => entry.reading.processes?.[field] ?? 0;

/** CPU, memory and processes under cAdvisor's names. */
export const resourceFamilies: readonly ContainerFamily[] = [
  {
    ...{ name: 'container_cpu_usage_seconds_total', help: 'Cumulative cpu time consumed in seconds.', type: 'counter' },
    samples: ({ labels, reading }, add) => {
      const used = reading.cpu?.usageNs ?? 0;
      if (used > 0) add(labels.with({ beforeId: 'cpu="total"' }), used / 1e9, reading.at);
    },
  },
  counter('container_cpu_user_seconds_total', 'Cumulative user cpu time consumed in seconds.', (entry) =>
    ns(entry.reading.cpu?.userNs),
  ),
  counter('container_cpu_system_seconds_total', 'Cumulative system cpu time consumed in seconds.', (entry) =>
    ns(entry.reading.cpu?.systemNs),
  ),
  counter('container_cpu_cfs_periods_total', 'Number of elapsed enforcement period intervals.', quota('periods')),
  counter(
    'container_cpu_cfs_throttled_periods_total',
    'Number of throttled period intervals.',
    quota('throttledPeriods'),
  ),
  counter(
    'container_cpu_cfs_throttled_seconds_total',
    'Total time duration the container has been throttled.',
    (entry) => ns(quota('throttledNs')(entry)),
  ),
  // kubelet does not switch on cAdvisor's load reader: these are always 0
  gauge('container_cpu_load_average_10s', 'Value of container cpu load average over the last 10 seconds.', () => 0),
  gauge('container_cpu_load_d_average_10s', 'Value of container cpu load.d average over the last 10 seconds.', () => 0),
  {
    ...{ name: 'container_tasks_state', help: 'Number of tasks in given state', type: 'gauge' },
    samples: ({ labels, reading }, add) => {
      for (const state of ['iowaiting', 'running', 'sleeping', 'stopped', 'uninterruptible']) {
        add(labels.with({ last: `state="${state}"` }), 0, reading.at);
      }
    },
  },
  spec('container_spec_cpu_period', 'CPU period of the container.', cpu('periodUs')),
  spec('container_spec_cpu_quota', 'CPU quota of the container.', cpu('quotaUs')),
  spec('container_spec_cpu_shares', 'CPU share of the container.', cpu('shares')),

  gauge('container_memory_cache', 'Number of bytes of page cache memory.', memory('cacheBytes')),
  gauge('container_memory_rss', 'Size of RSS in bytes.', memory('rssBytes')),
  gauge('container_memory_kernel_usage', 'Size of kernel memory allocated in bytes.', memory('kernelBytes')),
  gauge('container_memory_mapped_file', 'Size of memory mapped files in bytes.', memory('mappedFileBytes')),
  gauge('container_memory_swap', 'Container swap usage in bytes.', memory('swapBytes')),
  counter('container_memory_failcnt', 'Number of memory usage hits limits', memory('failures')),
  gauge(
    'container_memory_usage_bytes',
    'Current memory usage in bytes, including all memory regardless of when it was accessed',
    memory('usageBytes'),
  ),
  gauge('container_memory_max_usage_bytes', 'Maximum memory usage recorded in bytes', memory('maxUsageBytes')),
  gauge('container_memory_working_set_bytes', 'Current working set in bytes.', memory('workingSetBytes')),
  gauge(
    'container_memory_total_active_file_bytes',
    'Current total active file in bytes.',
    memory('totalActiveFileBytes'),
  ),
  gauge(
    'container_memory_total_inactive_file_bytes',
    'Current total inactive file in bytes.',
    memory('totalInactiveFileBytes'),
  ),
  {
    name: 'container_memory_failures_total',
    help: 'Cumulative count of memory allocation failures.',
    type: 'counter',
    samples: ({ labels, reading: { memory: found, at } }, add) => {
      if (found === undefined) return;
      const one = (failure: string, scope: string, value: number) =>
        add(labels.with({ beforeId: `failure_type="${failure}"`, last: `scope="${scope}"` }), value, at);
      one('pgfault', 'container', found.pageFaults);
      one('pgfault', 'hierarchy', found.hierarchicalPageFaults);
      one('pgmajfault', 'container', found.majorPageFaults);
      one('pgmajfault', 'hierarchy', found.hierarchicalMajorPageFaults);
    },
  },
  counter(
    'container_oom_events_total',
    'Count of out of memory events observed for the container',
    (entry) => entry.reading.memory?.oomKills ?? 0,
  ),
  spec('container_spec_memory_limit_bytes', 'Memory limit for the container.', limit('limitBytes')),
  spec('container_spec_memory_swap_limit_bytes', 'Memory swap limit for the container.', limit('swapLimitBytes')),
  spec(
    'container_spec_memory_reservation_limit_bytes',
    'Memory reservation limit for the container.',
    limit('reservationBytes'),
  ),

  gauge('container_processes', 'Number of processes running inside the container.', processes('processes')),
  gauge(
    'container_file_descriptors',
    'Number of open file descriptors for the container.',
    processes('fileDescriptors'),
  ),
  gauge('container_sockets', 'Number of open sockets for the container.', processes('sockets')),
  gauge('container_threads', 'Number of threads running inside the container', processes('threads')),
  gauge(
    'container_threads_max',
    'Maximum number of threads allowed inside the container, infinity if value is zero',
    processes('threadsMax'),
  ),
  {
    name: 'container_ulimits_soft',
    help: 'Soft ulimit values for the container root process. Unlimited if -1, except priority and nice',
    type: 'gauge',
    samples: ({ labels, openFilesLimit, reading }, add) => {
      if (openFilesLimit === null) return;
      add(labels.with({ last: 'ulimit="max_open_files"' }), openFilesLimit, reading.at);
    },
  },
  spec('container_start_time_seconds', 'Start time of the container since unix epoch in seconds.', (entry) =>
    Math.floor(entry.reading.createdAt / 1000),
  ),
];

/** Pressure stall information: with the gate `KubeletPSI` also on cgroup v1, where all of it is 0. */
export const pressureFamilies: readonly ContainerFamily[] = (
  [
    ['cpu', 'CPU'],
    ['memory', 'memory'],
    ['io', 'IO'],
  ] as const
).flatMap(([resource, word]) => {
  const seconds = (kind: keyof Pressure) => (entry: ContainerEntry) =>
    (entry.reading.pressure?.[resource][kind].totalUs ?? 0) / 1e6;
  return [
    counter(
      `container_pressure_${resource}_stalled_seconds_total`,
      `Total time duration no tasks in the container could make progress due to ${word} congestion.`,
      seconds('full'),
    ),
    counter(
      `container_pressure_${resource}_waiting_seconds_total`,
      `Total time duration tasks in the container have waited due to ${word} congestion.`,
      seconds('some'),
    ),
  ];
});
