import { bornHistory, remember, rememberFault } from '../../../machines/explain/pod-history.ts';
import type { PodHistory } from '../../../machines/explain/pod-history.ts';
import type { PodContext, PodSnapshot } from '../../../machines/pod/pod-context.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { Played } from '../../record/journal/played-step.ts';

/** One pod on its way through a journal: its machine's place, and what its past says. */
export class PodTrail {
  #context: PodContext | null = null;
  #history: PodHistory | null = null;

  /** Null while the journal has said nothing of it. */
  get place(): { context: PodContext; history: PodHistory } | null {
    return this.#context === null || this.#history === null ? null : { context: this.#context, history: this.#history };
  }

  /** Its place at the start of a segment. What was known of its past goes on to hold. */
  restore({ context }: PodSnapshot, at: number): void {
    this.#context = context;
    if (this.#history === null || this.#history.state.state !== context.focus)
      this.#history = bornHistory(context, at, true);
  }

  /** One message, and what it did. */
  saw(message: PodMessage, { before, after, fault }: Played<PodSnapshot, unknown>): void {
    if (message.type === 'pod.start') this.#begin(before.context, message.at);
    if (this.#history === null) return;
    this.#context = after.context;
    if (fault === null) remember(this.#history, message, after.context);
    else rememberFault(this.#history, message.at);
  }

  #begin(born: PodContext, at: number): void {
    const before = this.#history;
    this.#history = bornHistory(born, at, false);
    if (before === null || before.finishedAt > 0) return;
    // Another agent (or worker) takes it over: what failed before still counts.
    this.#history.failures = before.failures;
    this.#history.before = [...before.before, before.state];
  }
}
