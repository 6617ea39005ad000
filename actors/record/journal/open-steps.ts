import type { PlayedStep } from './played-step.ts';

/**
 * Steps that wait for their recorded outcomes. Messages of one turn stand before all of their outcomes, and outcomes
 * in the order of their messages; so the oldest is almost always the one that is asked for.
 */
export class OpenSteps {
  private steps: PlayedStep[] = [];
  private head = 0;
  /** Those that were passed over: the agent ended while it handled them, or the pod had finished. */
  private readonly late = new Map<string, PlayedStep>();

  get size(): number {
    return this.steps.length - this.head + this.late.size;
  }

  add(step: PlayedStep): void {
    this.steps.push(step);
  }

  /** The oldest one. */
  first(): PlayedStep | undefined {
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
  take(key: string, n: number): PlayedStep | undefined {
    const at = this.steps.findIndex((s, i) => i >= this.head && s.n === n && s.key === key);
    if (at < 0) {
      const name = `${key}/${n}`;
      const step = this.late.get(name);
      this.late.delete(name);
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
    if (step !== undefined) this.late.set(`${step.key}/${step.n}`, step);
  }
}
