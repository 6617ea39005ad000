import type { FastifyInstance, FastifyRequest } from 'fastify';
import { upgradeOf } from './upgrade.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';

const METHODS = new Set(['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'CONNECT']);
/** First parts of paths that are counted by name; all others are `other`. */
const NAMES = [
  'healthz',
  'pods',
  'stats',
  'metrics',
  'metrics/cadvisor',
  'metrics/probes',
  'metrics/resource',
  'run',
  'exec',
  'attach',
  'portForward',
  'containerLogs',
  'configz',
  'flagz',
  'statusz',
  'runningpods',
  'checkpoint',
  'logs',
  'debug',
  'pprof',
];
/** By themselves: a label that was cut out of a request's path would keep that whole path. */
const PATHS = new Map(NAMES.map((name) => [name, name]));
/** As kubelet spells them, which is why `portForward` is not among them. */
const LONG_RUNNING = new Set(['exec', 'attach', 'portforward', 'debug']);

/** Counts the requests of one server (`kubelet_http_*`), also those of paths that it does not have: it comes before what looks at paths. */
export function countRequests(app: FastifyInstance, metrics: Metrics, server_type: 'readonly' | 'readwrite'): void {
  const begun = new WeakMap<FastifyRequest, { labels: ReturnType<typeof labelsOf>; at: number }>();
  const ended = (request: FastifyRequest) => {
    const entry = begun.get(request);
    if (entry === undefined) return;
    begun.delete(request);
    metrics.httpInflightRequests.dec(entry.labels);
    metrics.httpRequestsDuration.observe(entry.labels, (performance.now() - entry.at) / 1000);
  };
  app.addHook('onRequest', (request, reply, done) => {
    const labels = labelsOf(request, server_type);
    metrics.httpRequests.inc(labels);
    metrics.httpInflightRequests.inc(labels);
    begun.set(request, { labels, at: performance.now() });
    // A stream takes the connection for itself; any other answer ends with itself, also when it is cut.
    (upgradeOf(request.raw)?.socket ?? reply.raw).once('close', () => ended(request));
    done();
  });
}

function labelsOf({ method, url }: FastifyRequest, server_type: string) {
  const [first = '', second] = (url.split('?', 1)[0] ?? '').split('/').slice(1);
  const root = first === 'metrics' && second !== undefined ? `${first}/${second}` : first;
  const path = PATHS.get(root) ?? 'other';
  return {
    method: METHODS.has(method) ? method : 'other',
    path,
    server_type,
    long_running: String(LONG_RUNNING.has(path)),
  };
}
