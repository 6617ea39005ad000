import { runtimeError } from '../container/container-events.ts';
import type { EffectFailed } from '../protocol/messages.ts';
import type { Draft } from './draft.ts';
import { podEvent } from './draft.ts';

/**
 * The runtime fails to say what it holds of the pod: told as kubelet does whose worker finds no status of the pod
 * (`podWorkerLoop`), for nothing moves on that waits for a look.
 */
export function takeUnseen(draft: Draft, error: EffectFailed['error']): void {
  const { context, at } = draft;
  if (context.finished) return;
  const why = runtimeError(error);
  context.unseen = { since: context.unseen?.since ?? at, why };
  podEvent(draft, 'Warning', 'FailedSync', `error determining status: ${why}`);
}
