import type { Pod } from '../protocol/api-types.ts';
import type { Effect } from '../protocol/effects.ts';
import type { EffectFailed } from '../protocol/messages.ts';
import type { ContainerContext } from './container-context.ts';

/** `name_namespace(uid)`: how kubelet names a pod in messages. */
export function podText(pod: Pod): string {
  return `${pod.metadata?.name ?? ''}_${pod.metadata?.namespace ?? ''}(${pod.metadata?.uid ?? ''})`;
}

/** A Kubernetes event about a container, with its field path. */
export function containerEvent(
  context: ContainerContext,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): Effect {
  const list =
    context.kind === 'ephemeral' ? 'ephemeralContainers' : context.kind === 'regular' ? 'containers' : 'initContainers';
  return {
    type: 'event.Record',
    key: '',
    params: { type, reason, message, fieldPath: `spec.${list}{${context.name}}` },
  };
}

/** An error of the runtime as gRPC clients print it; errors of the agent itself stand for themselves. */
export function runtimeError(error: { code: string; message: string }): string {
  return /^[A-Z][a-z]/.test(error.code) ? `rpc error: code = ${error.code} desc = ${error.message}` : error.message;
}

/** Why an effect failed, for people: only the runtime's own refusals have a gRPC code; others stand for themselves. */
export function failureText({ effect, error }: EffectFailed): string {
  return effect.startsWith('cri.') ? runtimeError(error) : error.message;
}
