import type { CgroupHost } from '../host/files/cgroup-host.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import { createCgroupReader } from '../resources/cgroup-stats/create-cgroup-reader.ts';
import type { StatsOptions } from '../resources/stats/stats-options.ts';
import type { MeasuredNode } from './edges.ts';
import { StatsProvider } from '../resources/stats/stats-provider.ts';

/** What the node's stats are made from, but for the node. */
export interface NodeStatsOptions extends Omit<StatsOptions, 'node' | 'reader'> {
  cgroups: CgroupHost;
  metrics: Metrics;
}

/** One provider of stats for all who ask (servers, eviction): what one of them has had counted serves the others. */
export function nodeStats({ cgroups, metrics, ...options }: NodeStatsOptions) {
  let made: StatsProvider | undefined;
  return ({ claimed, onAbnormal, ...node }: MeasuredNode): StatsProvider =>
    (made ??= new StatsProvider({
      ...options,
      node,
      ...(claimed && { claimed }),
      ...(onAbnormal && { onAbnormal }),
      reader: createCgroupReader(cgroups, options.now),
      onVolumeCounted: (seconds, source) => metrics.volumeCount.observe({ metric_source: source }, seconds),
    }));
}
