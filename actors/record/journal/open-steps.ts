import type { Effect } from '../../../machines/protocol/effects.ts';

/** A step that was done and waits for its recorded outcome. */
export interface OpenStep {
  n: number;
  uid: string;
  /** The message's line. */
  message: string;
  state: string;
  effects: readonly Effect[];
}

/**
 * Steps that wait for their recorded outcomes. Messages of one turn stand before all of their outcomes, and outcomes
 * in the order of their messages; so the oldest is almost always the one that is asked for.
 */
export class OpenSteps {
  private steps: OpenStep[] = [];
  private head = 0;
  /** Those that were passed over: the agent ended while it handled them, or the pod had finished. */
  private readonly late = new Map<string, OpenStep>();

  get size(): number {
    return this.steps.length - this.head + this.late.size;
  }

  add(step: OpenStep): void {
    this.steps.push(step);
  }

  /** The oldest one. */
  first(): OpenStep | undefined {
    return this.steps[this.head];
  }

  /** Takes the oldest one out. */
  shift(): void {
    this.head++;
    if (this.head < this.steps.length) return;
    this.steps = [];
    this.head = 0;
  }

  /** Takes out the one with this number. */
  take(uid: string, n: number): OpenStep | undefined {
    const at = this.steps.findIndex((s, i) => i >= this.head && s.n === n && s.uid === uid);
    if (at < 0) {
      const key = `${uid}/${n}`;
      const step = this.late.get(key);
      this.late.delete(key);
      return step;
    }
    const step = this.steps[at];
    while (this.head < at) {
      this.pass();
      this.shift();
    }
    this.shift();
    return step;
  }

  /** A new segment begins: what is open now was most likely never answered. */
  passAll(): void {
    while (this.first() !== undefined) {
      this.pass();
      this.shift();
    }
  }

  private pass(): void {
    const step = this.first();
    if (step !== undefined) this.late.set(`${step.uid}/${step.n}`, step);
  }
}
