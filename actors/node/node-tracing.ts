import type { Logger } from 'pino';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../configure/configuration/kubelet-flags.ts';
import type { Spans, TracingOptions } from '../record/tracing/spans.ts';
import { nodeNameOf } from '../resources/machine/node-facts.ts';
import type { Lifecycle } from './lifecycle.ts';

/** Where spans go, and how many; null: none are made. */
export function tracingOptionsOf({ tracing }: KubeletConfiguration, flags: KubeletFlags): TracingOptions | null {
  if (tracing === undefined) return null;
  return {
    endpoint: tracing.endpoint,
    samplingRatePerMillion: tracing.samplingRatePerMillion ?? 0,
    hostName: nodeNameOf(flags.hostnameOverride),
  };
}

/** The spans of the main thread. Their libraries are loaded here and nowhere else, so that a node that does not trace has none of them. */
export async function nodeSpans(tracing: TracingOptions, log: Logger, life: Lifecycle): Promise<Spans> {
  const { openSpans } = await import('../record/tracing/open-spans.ts');
  const spans = openSpans(tracing, log);
  life.has('traces', 'ways', () => spans.stop());
  return spans;
}
