import { TextWriter } from '../../record/metrics/text-format.ts';
import type { ContainerStats, Nanoseconds, Summary } from './summary.ts';

type Labels = Readonly<Record<string, string>>;
interface Sample {
  labels: Labels;
  value: number;
  /** Null: without a timestamp. */
  time: Nanoseconds;
}

interface Family {
  help: string;
  type: 'counter' | 'gauge';
  samples: Sample[];
}

const HELP: Readonly<Record<string, readonly ['counter' | 'gauge', string]>> = {
  container_cpu_usage_seconds_total: [
    'counter',
    '[STABLE] Cumulative cpu time consumed by the container in core-seconds',
  ],
  container_memory_working_set_bytes: ['gauge', '[STABLE] Current working set of the container in bytes'],
  container_start_time_seconds: ['gauge', '[STABLE] Start time of the container since unix epoch in seconds'],
  container_swap_limit_bytes: [
    'gauge',
    '[ALPHA] Current amount of the container swap limit in bytes. Reported only on non-windows systems',
  ],
  container_swap_usage_bytes: [
    'gauge',
    '[ALPHA] Current amount of the container swap usage in bytes. Reported only on non-windows systems',
  ],
  node_cpu_usage_seconds_total: ['counter', '[STABLE] Cumulative cpu time consumed by the node in core-seconds'],
  node_memory_working_set_bytes: ['gauge', '[STABLE] Current working set of the node in bytes'],
  node_swap_usage_bytes: [
    'gauge',
    '[ALPHA] Current swap usage of the node in bytes. Reported only on non-windows systems',
  ],
  pod_cpu_usage_seconds_total: ['counter', '[STABLE] Cumulative cpu time consumed by the pod in core-seconds'],
  pod_memory_working_set_bytes: ['gauge', '[STABLE] Current working set of the pod in bytes'],
  pod_swap_usage_bytes: [
    'gauge',
    '[ALPHA] Current amount of the pod swap usage in bytes. Reported only on non-windows systems',
  ],
  resource_scrape_error: ['gauge', '[STABLE] 1 if there was an error while getting container metrics, 0 otherwise'],
};

/**
 * Body of `/metrics/resource` (what metrics-server reads): families by name, samples by labels, each with the time of its
 * reading.
 * @param summary with cpu and memory; null when it could not be made, then `resource_scrape_error` is 1 and alone
 */
export function resourceMetrics(summary: Summary | null): string {
  const families = new Map<string, Family>();
  for (const [name, [type, help]] of Object.entries(HELP)) families.set(name, { help, type, samples: [] });
  const add = (name: string, labels: Labels, value: number | undefined, time: Nanoseconds | undefined) => {
    if (value !== undefined) families.get(name)?.samples.push({ labels, value, time: time ?? null });
  };
  const seconds = (ns: number | undefined) => (ns === undefined ? undefined : ns / 1e9);
  if (summary !== null) {
    const { cpu, memory, swap } = summary.node;
    add('node_cpu_usage_seconds_total', {}, seconds(cpu?.usageCoreNanoSeconds), cpu?.time);
    add('node_memory_working_set_bytes', {}, memory?.workingSetBytes, memory?.time);
    add('node_swap_usage_bytes', {}, swap?.swapUsageBytes, swap?.time);
    for (const pod of summary.pods) {
      const { namespace, name } = pod.podRef;
      for (const container of pod.containers)
        addContainer(add, { container: container.name, namespace, pod: name }, container);
      const labels = { namespace, pod: name };
      add('pod_cpu_usage_seconds_total', labels, seconds(pod.cpu?.usageCoreNanoSeconds), pod.cpu?.time);
      add('pod_memory_working_set_bytes', labels, pod.memory?.workingSetBytes, pod.memory?.time);
      add('pod_swap_usage_bytes', labels, pod.swap?.swapUsageBytes, pod.swap?.time);
    }
  }
  add('resource_scrape_error', {}, summary === null ? 1 : 0, null);
  const writer = new TextWriter();
  for (const [name, { help, type, samples }] of families) {
    if (samples.length === 0) continue;
    writer.family(name, help, type);
    for (const { labels, value, time } of samples.sort(byLabels)) {
      writer.sample(name, labels, value, time === null ? undefined : Math.floor(time / 1e6));
    }
  }
  return writer.toString();
}

function addContainer(
  add: (name: string, labels: Labels, value: number | undefined, time: Nanoseconds | undefined) => void,
  labels: Labels,
  { startTime, cpu, memory, swap }: ContainerStats,
): void {
  if (startTime !== null && startTime >= 1e9) add('container_start_time_seconds', labels, startTime / 1e9, null);
  const cpuSeconds = cpu?.usageCoreNanoSeconds === undefined ? undefined : cpu.usageCoreNanoSeconds / 1e9;
  add('container_cpu_usage_seconds_total', labels, cpuSeconds, cpu?.time);
  add('container_memory_working_set_bytes', labels, memory?.workingSetBytes, memory?.time);
  add('container_swap_usage_bytes', labels, swap?.swapUsageBytes, swap?.time);
  if (swap?.swapAvailableBytes === undefined) return;
  add('container_swap_limit_bytes', labels, swap.swapAvailableBytes + (swap.swapUsageBytes ?? 0), swap.time);
}

function byLabels(a: Sample, b: Sample): number {
  for (const [name, value] of Object.entries(a.labels)) {
    const other = b.labels[name] ?? '';
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}
