import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import { TEXT_FORMAT_CONTENT_TYPE } from '../../record/metrics/text-format.ts';

/**
 * Adds `/metrics` and `/metrics/probes`. As plain Go handlers they answer every method.
 * @param beforeScrape brings gauges up to date and gives what no registry holds, in the text format
 */
export function addMetricsRoutes(app: FastifyInstance, metrics: Metrics, beforeScrape: () => Promise<string>): void {
  app.all('/metrics', async (_request, reply) => {
    const more = await beforeScrape();
    return reply.type(TEXT_FORMAT_CONTENT_TYPE).send((await metrics.text()) + more);
  });
  app.all('/metrics/probes', async (_request, reply) => {
    return reply.type(TEXT_FORMAT_CONTENT_TYPE).send(await metrics.probesText());
  });
}
