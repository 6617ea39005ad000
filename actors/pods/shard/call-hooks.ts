import type { Logger } from 'pino';
import type { CriHooks } from '../../../cri/client/call.ts';
import type { Observation } from '../../record/metrics/observation.ts';
import { callSpans } from '../../record/tracing/call-spans.ts';
import type { Spans } from '../../record/tracing/spans.ts';
import { CallFailures } from '../../runtime/runtime-state/call-failures.ts';
import { effectObservations } from './effect-observations.ts';

/** What becomes of each call to the runtime beside its answer: readings for metrics, a line of the log where it failed, a span where there is tracing. */
export function callHooks(log: Logger, spans: Spans | null, observe: (readings: Observation[]) => void): CriHooks {
  const failures = new CallFailures(log);
  return {
    onCall(report) {
      observe(effectObservations.call(report));
      failures.tell(report);
    },
    ...(spans !== null && { trace: callSpans(spans) }),
  };
}
