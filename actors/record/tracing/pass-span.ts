import type { OpenSpan, Spans } from './spans.ts';

/** Who makes the span of a pass, and how it is called, as in kubelet. */
const PASSES = {
  containers: { scope: 'k8s.io/kubernetes/pkg/kubelet/kuberuntime', name: 'Containers/GarbageCollect' },
  images: { scope: 'k8s.io/kubernetes/pkg/kubelet/images', name: 'Images/GarbageCollect' },
} as const;

/**
 * Begins the span of a pass of one of the collectors. It is a trace of its own with no attributes, and never an error, whatever came
 * of the pass: kubelet's are so.
 */
export function passSpan(spans: Spans, of: keyof typeof PASSES): OpenSpan {
  return spans.begin({ ...PASSES[of], kind: 'internal', attributes: {}, root: true });
}
