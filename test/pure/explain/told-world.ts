import { explainPod } from '../../../machines/explain/explain-pod.ts';
import type { Explanation } from '../../../machines/explain/explanation.ts';
import { bornHistory, remember } from '../../../machines/explain/pod-history.ts';
import type { PodHistory } from '../../../machines/explain/pod-history.ts';
import { containerReason } from '../../../machines/explain/container-reasons.ts';
import { probeReason } from '../../../machines/explain/probe-reasons.ts';
import { viewOf } from '../../../machines/explain/view.ts';
import type { View } from '../../../machines/explain/view.ts';
import { statePath } from '../../../machines/machine-step/step.ts';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import { PodWorld } from '../pod/pod-world.ts';

/** A pod's world whose history is kept, so that each moment can be explained. */
export class ToldWorld extends PodWorld {
  history!: PodHistory;

  override send(message: PodMessage): void {
    this.history ??= bornHistory(this.snapshot.context, message.at, false);
    super.send(message);
    remember(this.history, message, this.snapshot.context);
  }

  private view(): View {
    return viewOf({ context: this.snapshot.context, history: this.history, now: this.at });
  }

  explain(place = ''): Explanation {
    return explainPod({ context: this.snapshot.context, history: this.history, now: this.at, place });
  }

  /** What is said of one container, joined by newlines. */
  ofContainer(name: string): { state: string; text: string } {
    const state = statePath(this.snapshot.context.containers[name]?.value);
    return { state, text: lines(containerReason(this.view(), name)) };
  }

  ofProbe(name: string, kind: 'startup' | 'liveness' | 'readiness'): { state: string; text: string } {
    const state = statePath(this.snapshot.context.probes[`${name}/${kind}`]?.value);
    const reason = probeReason(this.view(), name, kind);
    return { state, text: reason === null ? '' : lines(reason) };
  }

  remove(): void {
    this.send({ type: 'pod.terminate', at: this.at, order: { reason: 'Removed', message: 'x' } });
  }
}

function lines(reason: { causes: { text: string }[]; next?: { what: string } }): string {
  return [
    ...reason.causes.map((c) => c.text),
    ...(reason.next === undefined ? [] : [`next: ${reason.next.what}`]),
  ].join('\n');
}

/** A world that has begun: all is ready. */
export function told(definition: Pod, prepare: (world: ToldWorld) => void = () => undefined): ToldWorld {
  const world = new ToldWorld(definition, null, undefined, false);
  prepare(world);
  world.begin(null, false);
  return world;
}

/** A container of the spec. */
export const box = (name: string, over: Partial<Container> = {}): Container => ({
  name,
  image: 'img:1',
  imagePullPolicy: 'IfNotPresent',
  ...over,
});

/** A failure that each effect of a type answers with. */
export const fails =
  (message: string, code = 'Unknown') =>
  () => ({ error: { code, message } });
