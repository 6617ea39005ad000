import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../../actors/cluster/certificates/clock.ts';

/** Up to this long, a pause is a look from time to time: it goes by in real time, but quickly. */
const SHORT_MS = 1_000;

/** A clock that goes on by itself and can be set forward; long pauses end only by that. */
export class TestClock implements Clock {
  /** Long pauses that were begun, ms. */
  readonly pauses: number[] = [];
  /** What `random` gives. */
  chance = 0;
  private offset = 0;
  private setBy = 0;
  private readonly sleepers = new Set<{ until: number; wake: () => void }>();

  now(): number {
    return Date.now() + this.offset + this.setBy;
  }

  steady(): number {
    return performance.now() + this.offset;
  }

  random(): number {
    return this.chance;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms <= SHORT_MS) {
      await sleep(10, undefined, { signal }).catch(() => undefined);
      return;
    }
    if (signal.aborted) return;
    this.pauses.push(ms);
    await new Promise<void>((resolve) => {
      const sleeper = { until: this.steady() + ms, wake: () => end() };
      const end = (): void => {
        this.sleepers.delete(sleeper);
        signal.removeEventListener('abort', end);
        resolve();
      };
      this.sleepers.add(sleeper);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  /** Somebody sets the wall clock: no time goes by. */
  set(byMs: number): void {
    this.setBy += byMs;
  }

  /** Time goes by. */
  jump(ms: number): void {
    this.offset += ms;
    for (const sleeper of [...this.sleepers]) if (sleeper.until <= this.steady()) sleeper.wake();
  }
}
