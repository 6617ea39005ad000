import type { CallTrace } from '../../../cri/client/call.ts';
import type { OpenSpan, Spans } from './spans.ts';

const SCOPE = 'go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc';

/** Client spans of calls of the runtime, as otelgrpc makes them for kubelet: `runtime.v1.RuntimeService/RunPodSandbox`. */
export function callSpans(spans: Spans): (path: string) => CallTrace {
  return (path) => {
    const name = path.slice(1);
    const at = name.lastIndexOf('/');
    const span = spans.begin({
      scope: SCOPE,
      name,
      kind: 'client',
      attributes: { 'rpc.system': 'grpc', 'rpc.service': name.slice(0, at), 'rpc.method': name.slice(at + 1) },
    });
    return {
      headers: span.headers(),
      sent: messages(span, 'SENT'),
      received: messages(span, 'RECEIVED'),
      end(code, details) {
        span.set({ 'rpc.grpc.status_code': code });
        span.end(code === 0 ? undefined : details);
      },
    };
  };
}

function messages(span: OpenSpan, type: 'SENT' | 'RECEIVED'): (bytes: number) => void {
  let id = 0;
  return (bytes) =>
    span.event('message', {
      'message.type': type,
      'message.id': ++id,
      'message.compressed_size': bytes,
      'message.uncompressed_size': bytes,
    });
}
