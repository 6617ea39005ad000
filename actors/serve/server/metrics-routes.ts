import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import { metricsPage } from './metrics-page.ts';

/**
 * Adds `/metrics` and `/metrics/probes`. As plain Go handlers they answer every method.
 * @param beforeScrape brings gauges up to date and gives what no registry holds, in the text format
 */
export function addMetricsRoutes(app: FastifyInstance, metrics: Metrics, beforeScrape: () => Promise<string>): void {
  app.all('/metrics', async (request, reply) => {
    const more = await beforeScrape();
    return metricsPage(request, reply, (await metrics.text()) + more);
  });
  app.all('/metrics/probes', async (request, reply) => {
    return metricsPage(request, reply, await metrics.probesText());
  });
}
