import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../metrics/metrics-registry.ts';

/** Adds `/metrics` and `/metrics/probes`. As plain Go handlers they answer every method. */
export function addMetricsRoutes(app: FastifyInstance, metrics: Metrics, beforeScrape: () => void): void {
  app.all('/metrics', async (_request, reply) => {
    beforeScrape();
    return reply.type(metrics.contentType).send(await metrics.text());
  });
  app.all('/metrics/probes', async (_request, reply) => {
    return reply.type(metrics.contentType).send(await metrics.probesText());
  });
}
