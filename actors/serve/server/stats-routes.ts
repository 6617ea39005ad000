import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { messageOf } from '../../../machines/values/message-of.ts';
import { acceptable } from './acceptable.ts';
import { restfulError } from './go-answers.ts';
import { parseGoForm } from './go-query.ts';
import { metricsPage } from './metrics-page.ts';
import { resourceMetrics } from '../../resources/stats/resource-metrics.ts';
import type { StatsProvider } from '../../resources/stats/stats-provider.ts';
import { summaryJson } from '../../resources/stats/summary.ts';

/** Options of {@link addStatsRoutes}. */
export interface StatsRoutesOptions {
  stats: Pick<StatsProvider, 'summary' | 'cpuAndMemory'>;
  log: Logger;
}

const FORM = 'application/x-www-form-urlencoded';

/**
 * `/stats/summary` (GET and POST, `only_cpu_and_memory=true` in query or form) and `/metrics/resource` (as a plain Go
 * handler of every method). Bodies have to come as text, as those of `createHttpApp` do.
 */
export function addStatsRoutes(app: FastifyInstance, { stats, log }: StatsRoutesOptions): void {
  for (const url of ['/stats/summary', '/stats/summary/']) {
    app.route({
      ...{ url, method: ['GET', 'POST'], exposeHeadRoute: false },
      ...acceptable('application/json'),
      handler: (request, reply) => summary(request, reply, stats, log),
    });
  }
  app.all('/metrics/resource', async (request, reply) => {
    const body = await stats.cpuAndMemory(false).catch((error: unknown) => {
      log.error({ err: messageOf(error) }, 'Error getting summary for resourceMetric prometheus endpoint');
      return null;
    });
    return metricsPage(request, reply, resourceMetrics(body));
  });
}

async function summary(
  request: FastifyRequest,
  reply: FastifyReply,
  stats: StatsRoutesOptions['stats'],
  log: Logger,
): Promise<FastifyReply> {
  try {
    const answer = await (onlyCpuAndMemory(request) ? stats.cpuAndMemory() : stats.summary());
    return await reply.header('content-type', 'application/json').send(Buffer.from(summaryJson(answer)));
  } catch (error) {
    log.error({ err: messageOf(error), request: '/stats/summary' }, 'HTTP InternalServerError serving');
    return restfulError(reply, 500, `Internal Error: ${messageOf(error)}`);
  }
}

/**
 * The one value there is, in form and query together, is `true`.
 * @throws Error when either of them is malformed, as kubelet tells it
 */
function onlyCpuAndMemory({ method, url, headers, body }: FastifyRequest): boolean {
  const name = 'only_cpu_and_memory';
  const isForm = method === 'POST' && headers['content-type']?.split(';', 1)[0]?.trim() === FORM;
  const form = parseGoForm(isForm && typeof body === 'string' ? body : '');
  const query = parseGoForm(url.split('?').slice(1).join('?'));
  const problem = form.problem || query.problem;
  if (problem !== '') throw new Error(`parse form failed: ${problem}`);
  const values = [form, query].flatMap((each) => each.values.get(name) ?? []);
  return values.length === 1 && values[0] === 'true';
}
