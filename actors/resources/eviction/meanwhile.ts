import type { Clock } from '../../host/time/clock.ts';

/** Waits for an answer without losing sight of the node. */
export class Meanwhile {
  private readonly clock: Pick<Clock, 'lookAfter'>;
  private readonly everyMs: number;
  private woken: (() => void) | null = null;

  /** @param everyMs after so long without an answer it is time for a look, ms */
  constructor(clock: Pick<Clock, 'lookAfter'>, everyMs: number) {
    this.clock = clock;
    this.everyMs = everyMs;
  }

  /** Whoever waits is to look now. */
  wake(): void {
    this.woken?.();
  }

  /** The answer; null when it is time for a look before it comes. Rejects as it does. */
  async until<T extends object>(answer: Promise<T>): Promise<T | null> {
    const look = Promise.withResolvers<null>();
    this.woken = () => look.resolve(null);
    const timer = this.clock.lookAfter(this.everyMs, this.woken);
    try {
      return await Promise.race([answer, look.promise]);
    } finally {
      timer.cancel();
      this.woken = null;
    }
  }
}
