import type { CgroupHost } from '../host/files/cgroup-host.ts';
import { lookEach } from '../host/time/clock.ts';
import type { Clock } from '../host/time/clock.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import { createCgroupReader } from '../resources/cgroup-stats/create-cgroup-reader.ts';
import type { StatsOptions } from '../resources/stats/stats-options.ts';
import type { MeasuredNode } from './edges.ts';
import type { Lifecycle } from './lifecycle.ts';
import { StatsProvider } from '../resources/stats/stats-provider.ts';

/** What the node's stats are made from, but for the node. */
export interface NodeStatsOptions extends Omit<StatsOptions, 'node' | 'reader' | 'now'> {
  clock: Clock;
  life: Pick<Lifecycle, 'has'>;
  cgroups: CgroupHost;
  metrics: Metrics;
}

/** One provider of stats for all who ask (servers, eviction): what one of them has had counted serves the others. */
export function nodeStats({ cgroups, metrics, clock, life, ...options }: NodeStatsOptions) {
  const { now } = clock;
  let made: StatsProvider | undefined;
  return ({ claimed, onAbnormal, ...node }: MeasuredNode): StatsProvider => {
    if (made !== undefined) return made;
    const stats = new StatsProvider({
      ...{ ...options, now, node },
      ...(claimed && { claimed }),
      ...(onAbnormal && { onAbnormal }),
      reader: createCgroupReader(cgroups, now),
      onVolumeCounted: (seconds, source) => metrics.volumeCount.observe({ metric_source: source }, seconds),
    });
    made = stats;
    const periodMs = options.config.volumeStatsAggPeriod;
    // That a driver calls a volume abnormal is an event, which nobody has to ask for (kubelet counts volumes all the time).
    if (options.featureGates.enabled('CSIVolumeHealth') && periodMs > 0) {
      const looks = lookEach(clock, periodMs, () => void stats.volumesCounted());
      life.has('looks at the health of volumes', 'hearers', () => looks.cancel());
    }
    return stats;
  };
}
