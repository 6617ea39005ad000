import { createRequire } from 'node:module';
import type { Registry } from 'prom-client';

type Collect = (registry: Registry) => void;

/**
 * prom-client's default metrics without those that cost CPU while nothing happens: its watch of garbage collections
 * is called at each one, and the histogram of the event loop's lag wakes the process a hundred times a second.
 */
const METRICS = [
  'processCpuTotal',
  'processStartTime',
  'osMemoryHeap',
  'processOpenFileDescriptors',
  'processMaxFileDescriptors',
  'heapSizeAndUsed',
  'version',
] as const;

/** Registers `process_*`, and of `nodejs_*` the heap and the version. */
export function collectProcessMetrics(registry: Registry): void {
  const require = createRequire(import.meta.url);
  for (const name of METRICS) (require(`prom-client/lib/metrics/${name}.js`) as Collect)(registry);
}
