import { ContainerState, MetricType, PodSandboxState } from '../generated/runtime/v1/api.ts';
import type { ContainerStats, CpuUsage, MemoryUsage, PodSandboxStats } from '../generated/runtime/v1/api.ts';
import { findContainer } from './find-container.ts';
import type { RuntimeHandlers } from './handlers.ts';
import { nanosToMs } from './nano-clock.ts';
import type { ContainerRecord, SandboxRecord } from './records.ts';
import { findSandbox } from './sandbox-service.ts';
import type { SimCore } from './sim-core.ts';

/** RPCs about use of resources. */
type StatsRpcs =
  | 'containerStats'
  | 'listContainerStats'
  | 'podSandboxStats'
  | 'listPodSandboxStats'
  | 'listMetricDescriptors'
  | 'listPodSandboxMetrics';

/** What a pod's network has seen, bytes: a fixed rate since the sandbox's start. */
const NETWORK_BYTES_PER_MS = 1;
const LAYER_BYTES = '4096';

const LABELS = ['container', 'pod', 'namespace'];
const METRICS = [
  { name: 'container_cpu_usage_seconds_total', help: 'Cumulative cpu time consumed in seconds.', labelKeys: LABELS },
  { name: 'container_memory_working_set_bytes', help: 'Current working set in bytes.', labelKeys: LABELS },
];

/** RuntimeService's part about stats and metrics: figures as the script's `usage` gives them. */
export function statsHandlers(core: SimCore): Pick<RuntimeHandlers, StatsRpcs> {
  const running = { id: '', state: { state: ContainerState.CONTAINER_RUNNING }, labelSelector: {} };
  const ready = { id: '', state: { state: PodSandboxState.SANDBOX_READY }, labelSelector: {} };
  return {
    containerStats: ({ containerId }) => ({ stats: containerStats(core, findContainer(core, containerId)) }),
    listContainerStats: ({ filter }) => {
      const sandboxId = filter?.podSandboxId ?? '';
      const within = sandboxId === '' ? undefined : (core.sandboxes.find(sandboxId)?.containers ?? []);
      const found = core.containers.select({ ...running, ...filter, state: running.state }, within);
      return { stats: Array.from(found, (record) => containerStats(core, record)) };
    },
    podSandboxStats: ({ podSandboxId }) => ({ stats: sandboxStats(core, findSandbox(core, podSandboxId)) }),
    listPodSandboxStats: ({ filter }) => {
      const found = core.sandboxes.select({ ...ready, ...filter, state: ready.state });
      return { stats: Array.from(found, (record) => sandboxStats(core, record)) };
    },
    listMetricDescriptors: () => ({ descriptors: METRICS }),
    listPodSandboxMetrics: () => ({
      podMetrics: Array.from(core.sandboxes.select(ready), (record) => ({
        podSandboxId: record.id,
        metrics: [],
        containerMetrics: runningIn(record).map((container) => ({
          containerId: container.id,
          metrics: metricsOf(core, container),
        })),
      })),
    }),
  };
}

function attributesOf<M>(record: {
  id: string;
  metadata: M;
  config: { labels: Record<string, string>; annotations: Record<string, string> };
}) {
  const { id, metadata, config } = record;
  return { id, metadata, labels: config.labels, annotations: config.annotations };
}

function containerStats(core: SimCore, record: ContainerRecord): ContainerStats {
  const timestamp = core.clock.now();
  const runs = record.state === ContainerState.CONTAINER_RUNNING;
  const { mountpoint } = core.plan.runtime.imageFilesystem;
  return {
    attributes: attributesOf(record),
    cpu: runs ? cpuUsage(timestamp, cpuNanos(record, timestamp), record.behaviour.usage.cpuNanoCores) : undefined,
    memory: runs ? memoryUsage(timestamp, record.behaviour.usage.memoryBytes) : undefined,
    writableLayer: {
      timestamp,
      fsId: { mountpoint },
      usedBytes: { value: LAYER_BYTES },
      inodesUsed: { value: '1' },
    },
    swap: runs ? { timestamp, swapAvailableBytes: { value: '0' }, swapUsageBytes: { value: '0' } } : undefined,
    io: undefined,
  };
}

function sandboxStats(core: SimCore, record: SandboxRecord): PodSandboxStats {
  const timestamp = core.clock.now();
  const containers = runningIn(record);
  const sum = (of: (container: ContainerRecord) => number): number =>
    containers.reduce((total, each) => total + of(each), 0);
  const bytes = String(Math.max(0, nanosToMs(timestamp) - nanosToMs(record.createdAt)) * NETWORK_BYTES_PER_MS);
  const zero = { value: '0' };
  const eth0 = { name: 'eth0', rxBytes: { value: bytes }, rxErrors: zero, txBytes: { value: bytes }, txErrors: zero };
  return {
    attributes: attributesOf(record),
    linux: {
      cpu: cpuUsage(
        timestamp,
        sum((each) => cpuNanos(each, timestamp)),
        sum((each) => each.behaviour.usage.cpuNanoCores),
      ),
      memory: memoryUsage(
        timestamp,
        sum((each) => each.behaviour.usage.memoryBytes),
      ),
      network: record.hostNetwork ? undefined : { timestamp, defaultInterface: eth0, interfaces: [] },
      process: { timestamp, processCount: { value: String(containers.length + 1) } },
      containers: containers.map((each) => containerStats(core, each)),
      io: undefined,
    },
    windows: undefined,
  };
}

function metricsOf(core: SimCore, record: ContainerRecord) {
  const timestamp = core.clock.now();
  const { name, namespace } = record.sandbox.metadata;
  const labelValues = [record.metadata.name, name, namespace];
  const seconds = Math.floor(cpuNanos(record, timestamp) / 1e9);
  const bytes = record.behaviour.usage.memoryBytes;
  const metric = (index: 0 | 1, metricType: MetricType, value: number) => ({
    name: METRICS[index]?.name ?? '',
    timestamp,
    metricType,
    labelValues,
    value: { value: String(value) },
  });
  return [metric(0, MetricType.COUNTER, seconds), metric(1, MetricType.GAUGE, bytes)];
}

function runningIn(record: SandboxRecord): ContainerRecord[] {
  return [...record.containers].filter((each) => each.state === ContainerState.CONTAINER_RUNNING);
}

/** Cpu time used since the start, ns. */
function cpuNanos(record: ContainerRecord, timestamp: string): number {
  const ms = Math.max(0, nanosToMs(timestamp) - nanosToMs(record.startedAt));
  return Math.floor((ms / 1000) * record.behaviour.usage.cpuNanoCores);
}

function cpuUsage(timestamp: string, nanos: number, nanoCores: number): CpuUsage {
  return { timestamp, usageCoreNanoSeconds: { value: String(nanos) }, usageNanoCores: { value: String(nanoCores) } };
}

function memoryUsage(timestamp: string, bytes: number): MemoryUsage {
  const value = { value: String(bytes) };
  const zero = { value: '0' };
  return {
    timestamp,
    workingSetBytes: value,
    availableBytes: zero,
    usageBytes: value,
    rssBytes: value,
    pageFaults: zero,
    majorPageFaults: zero,
  };
}
