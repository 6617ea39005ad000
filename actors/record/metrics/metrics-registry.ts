import type {
  Counter as CounterOf,
  Gauge as GaugeOf,
  Histogram as HistogramOf,
  Registry as RegistryOf,
} from 'prom-client';
import { actorletMetrics } from './actorlet-metrics.ts';
import { apiMetrics } from './api-metrics.ts';
import { kubeletMetrics } from './kubelet-metrics.ts';
import { collectProcess, collectStartTime } from './process-metrics.ts';
import { resizeMetrics } from './resize-metrics.ts';
import { idleMetrics, volumeMetrics } from './volume-metrics.ts';
import { collectNodejs, Counter, Gauge, Histogram, Registry } from './prometheus.ts';
import type { MetricSpec } from './metric-spec.ts';
import type { Observation } from './observation.ts';

const catalog = {
  ...kubeletMetrics,
  ...apiMetrics,
  ...volumeMetrics,
  ...resizeMetrics,
  ...idleMetrics,
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
