import { bornHistory, remember, rememberFault } from '../../../machines/explain/pod-history.ts';
import type { PodHistory } from '../../../machines/explain/pod-history.ts';
import { bornPod, restoredPod, stepPod } from '../../../machines/pod/pod-step.ts';
import type { PodContext, PodSnapshot } from '../../../machines/pod/pod-context.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';

/** One pod on its way through a journal: its machine's place, and what its past says. */
export class PodTrail {
  #snapshot: PodSnapshot | null = null;
  #history: PodHistory | null = null;

  /** Null while the journal has said nothing of it. */
  get place(): { context: PodContext; history: PodHistory } | null {
    return this.#snapshot === null || this.#history === null
      ? null
      : { context: this.#snapshot.context, history: this.#history };
  }

  /** Its place at the start of a segment. What was known of its past goes on to hold. */
  restore(value: unknown, context: object, pod: Pod, settings: NodeSettings, at: number): void {
    const whole = { ...context, pod, settings } as PodContext;
    this.#snapshot = restoredPod(value, whole);
    if (this.#history === null || this.#history.state.state !== whole.focus)
      this.#history = bornHistory(whole, at, true);
  }

  /** One message, its pod put in. Messages of a pod whose beginning is not known are passed over. */
  take(message: PodMessage, settings: NodeSettings | null): void {
    if (message.type === 'pod.start' && settings !== null) this.#begin(message, settings);
    if (this.#snapshot === null || this.#history === null) return;
    try {
      this.#snapshot = stepPod(this.#snapshot, message).snapshot;
      remember(this.#history, message, this.#snapshot.context);
    } catch {
      // As in the agent: a message on which the machine throws changes nothing.
      rememberFault(this.#history, message.at);
    }
  }

  #begin(message: Extract<PodMessage, { type: 'pod.start' }>, settings: NodeSettings): void {
    const before = this.#history;
    const { pod, source, at } = message;
    this.#snapshot = bornPod({ pod, source, settings });
    this.#history = bornHistory(this.#snapshot.context, at, false);
    if (before === null || before.finishedAt > 0) return;
    // Another agent (or worker) takes it over: what failed before still counts.
    this.#history.failures = before.failures;
    this.#history.before = [...before.before, before.state];
  }
}
