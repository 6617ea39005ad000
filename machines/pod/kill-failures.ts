import { runtimeError } from '../container/container-events.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { EffectFailed } from '../protocol/messages.ts';
import { goQuote } from '../values/go-quote.ts';
import type { Draft } from './draft.ts';
import { podEvent } from './draft.ts';

/** A container of a pod that ends was not stopped: told as what it means for the pod; it is tried again. */
export function containerNotStopped(draft: Draft, name: string, { error }: EffectFailed): void {
  const { termination, settings } = draft.context;
  if (termination === null || error.code === 'NotFound' || !behaves(settings, 'failedStopsAreTold')) return;
  tell(draft, unkilled('KillContainer', name, runtimeError(error)));
}

/** The sandbox of a pod that ends was not stopped: told, and tried again. @param text what the runtime said */
export function sandboxNotStopped(draft: Draft, text: string): void {
  const { pod, settings, termination } = draft.context;
  if (termination === null) return;
  const follows = behaves(settings, 'failuresInKubeletsWords');
  tell(draft, follows ? unkilled('KillPodSandbox', pod.metadata?.uid ?? '', text) : text);
}

/** A part of a pod was not stopped, as kubelet's results of a sync say it. */
function unkilled(what: 'KillPodSandbox' | 'KillContainer', name: string, text: string): string {
  return `failed to "${what}" for "${name}" with ${what}Error: ${goQuote(text)}`;
}

function tell(draft: Draft, why: string): void {
  podEvent(draft, 'Warning', 'FailedKillPod', `error killing pod: ${why}`);
}
