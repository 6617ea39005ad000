import type { ImageMethod, RuntimeMethod } from './methods.ts';

/** The fields of requests that a deadline depends on; seconds as protobuf int64. */
interface Timed {
  timeout?: string;
}

/**
 * How long a call may take, in milliseconds, by the kubelet's rules (`base` is its `runtimeRequestTimeout`):
 * twice the base for RunPodSandbox, the request's own timeout plus the base for StopContainer and ExecSync
 * (none for an ExecSync without timeout), the larger of the two for CheckpointContainer, none for PullImage,
 * which is ended by cancellation when it makes no progress.
 */
export function deadlineMs(method: RuntimeMethod | ImageMethod, request: object, base: number): number {
  switch (method) {
    case 'runPodSandbox':
      return base * 2;
    case 'stopContainer':
      return base + requestTimeoutMs(request);
    case 'execSync': {
      const own = requestTimeoutMs(request);
      return own > 0 ? base + own : Infinity;
    }
    case 'checkpointContainer':
      return Math.max(base, requestTimeoutMs(request));
    case 'pullImage':
      return Infinity;
    default:
      return base;
  }
}

function requestTimeoutMs(request: Timed): number {
  return Math.max(0, Number(request.timeout ?? 0)) * 1000;
}
