import { createRequire } from 'node:module';
import type * as PromClient from 'prom-client';

/** What of prom-client's main module is in use. */
type Parts = Pick<typeof PromClient, 'Counter' | 'Gauge' | 'Histogram' | 'Registry'>;

const load = createRequire(import.meta.url);

/**
 * Parts of prom-client, each from its own file: the package's main module also loads its push gateway, its cluster
 * support and OpenTelemetry, which together take 9 MiB of memory that no agent has a use for.
 */
export const { Counter, Gauge, Histogram, Registry }: Parts = {
  Counter: load('prom-client/lib/counter') as Parts['Counter'],
  Gauge: load('prom-client/lib/gauge') as Parts['Gauge'],
  Histogram: load('prom-client/lib/histogram') as Parts['Histogram'],
  Registry: load('prom-client/lib/registry') as Parts['Registry'],
};

/**
 * prom-client's default metrics of the heap and the version. Others cost CPU while nothing happens: its watch of garbage
 * collections is called at each one, and the histogram of the event loop's lag wakes the process a hundred times a second.
 */
export function collectNodejs(registry: PromClient.Registry): void {
  for (const name of ['heapSizeAndUsed', 'version'])
    (load(`prom-client/lib/metrics/${name}.js`) as (registry: PromClient.Registry) => void)(registry);
}
