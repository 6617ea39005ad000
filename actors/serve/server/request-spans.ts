import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Spans } from '../../record/tracing/spans.ts';
import { upgradeOf } from './upgrade.ts';

const SCOPE = 'go.opentelemetry.io/contrib/instrumentation/github.com/emicklei/go-restful/otelrestful';

/**
 * Server spans of requests, with the names and attributes of otelrestful in kubelet: the path of the route, the server
 * `kubelet`. Each begins a trace: kubelet reads no context from requests.
 */
export function traceRequests(app: FastifyInstance, spans: Spans, scheme: 'http' | 'https'): void {
  app.addHook('onRequest', (request, reply, done) => {
    const route = routeOf(request);
    const { remoteAddress = '', remotePort = 0 } = request.raw.socket;
    const agent = request.headers['user-agent'];
    const span = spans.begin({
      scope: SCOPE,
      name: route,
      kind: 'server',
      root: true,
      attributes: {
        'http.method': request.method,
        'http.scheme': scheme,
        'net.host.name': 'kubelet',
        'net.protocol.version': request.raw.httpVersion,
        'net.sock.peer.addr': remoteAddress,
        'net.sock.peer.port': remotePort,
        ...(agent !== undefined && { 'user_agent.original': agent }),
        ...(route !== '' && { 'http.route': route }),
      },
    });
    (upgradeOf(request.raw)?.socket ?? reply.raw).once('close', () => {
      span.set({ 'http.status_code': reply.raw.statusCode });
      // As semconv says of servers: only 5xx is an error of theirs.
      span.end(reply.raw.statusCode >= 500 ? '' : undefined);
    });
    span.within(done);
  });
}

/** `/containerLogs/{podNamespace}/{podID}/{containerName}`, as go-restful writes a route. */
function routeOf(request: FastifyRequest): string {
  const { url = '' } = request.routeOptions;
  return url.replace(/:([A-Za-z]+)/g, '{$1}');
}
