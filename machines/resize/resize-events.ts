import { goJson } from '../container-config/go-json.ts';
import type { Container, Pod } from '../protocol/api-types.ts';
import type { Requirements } from '../protocol/requirements.ts';

/** Reasons of the events that tell of resizes, as kubelet spells them. */
export type ResizeEvent = 'ResizeDeferred' | 'ResizeInfeasible' | 'ResizeStarted' | 'ResizeCompleted' | 'ResizeError';

const WORDS: Record<ResizeEvent, string> = {
  ResizeDeferred: 'Pod resize Deferred',
  ResizeInfeasible: 'Pod resize Infeasible',
  ResizeStarted: 'Pod resize started',
  ResizeCompleted: 'Pod resize completed',
  ResizeError: 'Pod resize error',
};

/**
 * Text of a resize's event: words, and the pod's resources with the generation as JSON, byte for byte kubelet's.
 *
 * @param pod its resources are told: the allocated ones, or the wished for while a resize is pending
 */
export function resizeMessage(event: ResizeEvent, pod: Pod, generation: number, error = ''): string {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const summary = {
    ...(initContainers.length > 0 && { initContainers: initContainers.map(summed) }),
    ...(containers.length > 0 && { containers: containers.map(summed) }),
    generation,
    ...(error !== '' && { error }),
  };
  return `${WORDS[event]}: ${goJson(summary)}`;
}

function summed({ name, resources }: Container): { name: string; resources: Requirements } {
  const { limits, requests, claims } = resources ?? {};
  return {
    name,
    resources: {
      ...(limits && Object.keys(limits).length > 0 && { limits: sorted(limits) }),
      ...(requests && Object.keys(requests).length > 0 && { requests: sorted(requests) }),
      ...(claims && claims.length > 0 && { claims }),
    },
  };
}

function sorted(list: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(list).sort(([a], [b]) => (a < b ? -1 : 1)));
}
