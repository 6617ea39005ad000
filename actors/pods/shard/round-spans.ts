import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { OpenSpan, Spans } from '../../record/tracing/spans.ts';
import type { Outcome } from './effect-runner.ts';
import { type Round, isAside } from './pod-rounds.ts';

const SCOPE = 'k8s.io/kubernetes/pkg/kubelet';

/**
 * A span for each round of a pod's work, as kubelet's pod worker has one for each sync: `syncPod`, `syncTerminatingPod`,
 * `syncTerminatedPod`. Calls of the runtime that the round makes are its children; those of probes and of PLEG's looks
 * begin traces of their own.
 */
export class RoundSpans {
  private readonly spans: Spans;
  private readonly open = new Map<string, { name: string; span: OpenSpan; error: string | undefined }>();

  constructor(spans: Spans) {
    this.spans = spans;
  }

  /** A step of a round: with the first one the span begins, and another one when the pod goes on to its end meanwhile. */
  at(uid: string, pod: Pod, { operation, state }: Pick<Round, 'operation'> & { state: string }): void {
    const what = spanName(state);
    if (this.open.get(uid)?.name === what) return;
    this.ended(uid);
    const { namespace = '', name = '' } = pod.metadata ?? {};
    const span = this.spans.begin({
      scope: SCOPE,
      name: what,
      kind: 'internal',
      root: true,
      attributes: {
        'k8s.pod.uid': uid,
        'k8s.pod': `${namespace}/${name}`,
        'k8s.pod.name': name,
        'k8s.namespace.name': namespace,
        ...(what === 'syncPod' && { 'k8s.pod.update_type': operation }),
      },
    });
    this.open.set(uid, { name: what, span, error: undefined });
  }

  /** It ends. */
  ended(uid: string): void {
    const round = this.open.get(uid);
    this.open.delete(uid);
    round?.span.end(round.error, round.error !== undefined);
  }

  /** Carries out an effect within the round that it is part of. */
  async run(effect: Effect, uid: string, run: () => Promise<Outcome>): Promise<Outcome> {
    const round = isAside(effect) ? undefined : this.open.get(uid);
    if (round === undefined) return run();
    const outcome = await round.span.within(run);
    if (outcome.type === 'effect.failed') round.error = outcome.error.message;
    return outcome;
  }
}

function spanName(state: string): string {
  if (state.startsWith('terminating')) return 'syncTerminatingPod';
  return state.startsWith('terminated') ? 'syncTerminatedPod' : 'syncPod';
}
