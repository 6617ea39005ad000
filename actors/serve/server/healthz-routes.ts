import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { parseGoQuery } from './go-query.ts';
import { ping, rootHealth, singleHealth } from './health-checks.ts';
import type { HealthCheck, HealthReport } from './health-checks.ts';
import type { HealthSlis } from './health-slis.ts';

const TEXT = 'text/plain; charset=utf-8';

/** Adds `/healthz` (`?verbose`, `?exclude=NAME`) and `/healthz/<name>` for each check; `ping` is always there. */
export function addHealthzRoutes(
  app: FastifyInstance,
  checks: readonly HealthCheck[],
  log: Logger,
  slis?: HealthSlis,
): void {
  const all = checks.some(({ name }) => name === ping.name) ? checks : [ping, ...checks];
  const onResult = (name: string, healthy: boolean) => slis?.observe(name, healthy);
  app.all('/healthz', (request, reply) => {
    const query = parseGoQuery(request.url);
    const exclude = query.get('exclude') ?? [];
    const report = rootHealth(all, { verbose: query.has('verbose'), exclude, onResult });
    return answer(reply, report, log);
  });
  for (const check of all) {
    app.all(`/healthz/${check.name}`, (_request, reply) => {
      const report = singleHealth(check);
      // Go writes its ok without looking at headers here.
      if (report.status === 200) return reply.type(TEXT).send(report.body);
      return answer(reply, report, log);
    });
  }
}

function answer(reply: FastifyReply, report: HealthReport, log: Logger): FastifyReply {
  if (report.failures.length > 0) log.warn({ failures: report.failures }, 'healthz check failed');
  return reply.code(report.status).header('x-content-type-options', 'nosniff').type(TEXT).send(report.body);
}
