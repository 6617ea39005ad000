import type { FastifyInstance } from 'fastify';
import { TextWriter } from '../../record/metrics/text-format.ts';
import { processStart } from '../../record/metrics/process-metrics.ts';
import { metricsPage } from './metrics-page.ts';

/** Counts how health checks end, for `/metrics/slis` (KEP-3466). */
export class HealthSlis {
  private readonly last = new Map<string, boolean>();
  private readonly totals = new Map<string, { name: string; status: 'success' | 'error'; count: number }>();

  /** One check of `/healthz` was made. */
  observe(name: string, healthy: boolean): void {
    this.last.set(name, healthy);
    const status = healthy ? 'success' : 'error';
    const total = this.totals.get(`${name}/${status}`) ?? { name, status, count: 0 };
    total.count++;
    this.totals.set(`${name}/${status}`, total);
  }

  reset(): void {
    this.last.clear();
    this.totals.clear();
  }

  /** Writes both families; nothing before the first check. */
  write(writer: TextWriter): void {
    if (this.last.size === 0) return;
    writer.family(
      'kubernetes_healthcheck',
      '[STABLE] This metric records the result of a single healthcheck.',
      'gauge',
    );
    for (const [name, healthy] of sorted(this.last)) {
      writer.sample('kubernetes_healthcheck', { name, type: 'healthz' }, healthy ? 1 : 0);
    }
    writer.family(
      'kubernetes_healthchecks_total',
      '[STABLE] This metric records the results of all healthcheck.',
      'counter',
    );
    for (const [, { name, status, count }] of sorted(this.totals)) {
      writer.sample('kubernetes_healthchecks_total', { name, status, type: 'healthz' }, count);
    }
  }
}

/** Adds `/metrics/slis`; `DELETE` begins to count anew. */
export function addSliRoutes(app: FastifyInstance, slis: HealthSlis): void {
  app.all('/metrics/slis', (request, reply) => {
    if (request.method === 'DELETE') {
      slis.reset();
      return reply.type('text/plain; charset=utf-8').send('metrics reset\n');
    }
    const writer = new TextWriter();
    slis.write(writer);
    writer.family('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', 'gauge');
    writer.sample('process_start_time_seconds', {}, processStart());
    return metricsPage(request, reply, writer.toString());
  });
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
