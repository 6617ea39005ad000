import type {
  Counter as CounterOf,
  Gauge as GaugeOf,
  Histogram as HistogramOf,
  Registry as RegistryOf,
} from 'prom-client';
import { deviceMetrics } from './device-metrics.ts';
import { draMetrics } from './dra-metrics.ts';
import { apiMetrics } from './api-metrics.ts';
import { kubeletMetrics } from './kubelet-metrics.ts';
import { collectProcess, collectStartTime } from './process-metrics.ts';
import { managerMetrics } from './manager-metrics.ts';
import { idleMetrics, volumeMetrics } from './volume-metrics.ts';
import { collectNodejs, Counter, Gauge, Histogram, Registry } from './prometheus.ts';
import type { MetricSpec } from './metric-spec.ts';
import type { Observation } from './observation.ts';
import { counter, gauge, histogram } from './metric-spec.ts';

/** What kubelet tells of resizes in place (KEP-1287). */
const resizeMetrics = {
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

/** What no kubelet has: the actor system's own metrics. */
const actorletMetrics = {
  podState: gauge('actorlet_pod_state', 'Pod machines in each state, as dotted path.', ['state']),
  shardMessages: counter('actorlet_shard_messages_total', 'Messages that each shard has handled.', ['shard']),
  shardRestarts: counter('actorlet_shard_restarts_total', 'Times that a shard died or hung and was started again.', [
    'shard',
  ]),
  podsPutAside: counter(
    'actorlet_pods_put_aside_total',
    'Times that a pod was put aside since workers died on it.',
    [],
  ),
  shardHeartbeat: gauge(
    'actorlet_shard_heartbeat_seconds',
    'When each shard last gave a sign of life, in seconds since the epoch.',
    ['shard'],
  ),
  journalBytes: counter('actorlet_journal_bytes_total', 'Bytes written to the journal, before compression.'),
  journalLostLines: counter(
    'actorlet_journal_lost_lines_total',
    'Lines that are in no journal, because the disk refused them or did not answer.',
  ),
  journalStalls: counter(
    'actorlet_journal_stalls_total',
    'Times that the disk of a journal did not answer for a second.',
  ),
  sharedPulls: counter(
    'actorlet_image_pulls_shared_total',
    'Images that containers (and image volumes) got by a pull that another had asked for.',
  ),
  effectDuration: histogram('actorlet_effect_duration_seconds', 'Time from an effect to its outcome.', ['effect']),
  observationsDropped: counter(
    'actorlet_observations_dropped_total',
    'Observations of workers that fit no metric; more than 0 is a fault of the agent.',
  ),
};

const catalog = {
  ...kubeletMetrics,
  ...apiMetrics,
  ...volumeMetrics,
  ...resizeMetrics,
  ...deviceMetrics,
  ...draMetrics,
  ...idleMetrics,
  ...managerMetrics,
  ...actorletMetrics,
};

/** The prom-client object of a spec, with its label names as type. */
type Instrument<S> =
  S extends MetricSpec<'counter', infer L>
    ? CounterOf<L>
    : S extends MetricSpec<'gauge', infer L>
      ? GaugeOf<L>
      : S extends MetricSpec<'histogram', infer L>
        ? HistogramOf<L>
        : never;

type Instruments = { readonly [K in keyof typeof catalog]: Instrument<(typeof catalog)[K]> };

/** All metrics of the agent; one object for each process, on its main thread. */
export interface Metrics extends Instruments {
  readonly registry: RegistryOf;
  /** MIME type of {@link text}. */
  readonly contentType: string;
  /** The text format that `/metrics` serves. */
  text(): Promise<string>;
  /** What `/metrics/probes` serves: `prober_*`, which kubelet keeps apart since each container has its own series. */
  probesText(): Promise<string>;
  /** Carries out what workers have sent. What fits no metric is counted and dropped: a worker must not bring down main. */
  applyObservations(batch: readonly Observation[]): void;
  /** Replaces all of `actorlet_pod_state`: states that are not named any more vanish. */
  setPodStates(counts: ReadonlyMap<string, number>): void;
}

/** Registers everything. `processMetrics: false` leaves out `process_*`, `go_*` and `nodejs_*` (for tests). */
export function createMetrics(options: { processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  const probes = new Registry();
  const byName = new Map<string, AnyInstrument>();
  const instruments: Record<string, AnyInstrument> = {};
  for (const [field, spec] of Object.entries(catalog)) {
    const instrument = create(spec, spec.name.startsWith('prober_') ? probes : registry);
    instruments[field] = instrument;
    byName.set(spec.name, instrument);
  }
  collectStartTime(probes);
  if (options.processMetrics !== false) {
    collectProcess(registry);
    collectNodejs(registry);
  }

  const typed = instruments as unknown as Instruments;
  return {
    ...typed,
    registry,
    contentType: registry.contentType,
    text: () => registry.metrics(),
    probesText: () => probes.metrics(),
    applyObservations(batch) {
      for (const observation of batch) {
        if (!applyOne(byName.get(observation.name), observation)) typed.observationsDropped.inc();
      }
    },
    setPodStates(counts) {
      typed.podState.reset();
      for (const [state, count] of counts) typed.podState.set({ state }, count);
    },
  };
}

type AnyInstrument = CounterOf | GaugeOf | HistogramOf;

function create(spec: MetricSpec, registry: RegistryOf): AnyInstrument {
  const base = { name: spec.name, help: spec.help, labelNames: [...spec.labels], registers: [registry] };
  switch (spec.kind) {
    case 'counter':
      return new Counter(base);
    case 'gauge':
      return new Gauge(base);
    case 'histogram':
      return new Histogram({ ...base, buckets: [...(spec.buckets ?? [])] });
  }
}

/** False when the observation fits no metric: unknown name, wrong kind, foreign label, a counter that would fall. */
function applyOne(instrument: AnyInstrument | undefined, { labels, value, op }: Observation): boolean {
  if (instrument === undefined) return false;
  try {
    if (op === 'remove') instrument.remove(labels);
    else if (op === 'inc' && !(instrument instanceof Histogram)) instrument.inc(labels, value);
    else if (op === 'set' && instrument instanceof Gauge) instrument.set(labels, value);
    else if (op === 'observe' && instrument instanceof Histogram) instrument.observe(labels, value);
    else return false;
    return true;
  } catch {
    // prom-client throws on a label that the metric does not have and on values that are no numbers.
    return false;
  }
}
