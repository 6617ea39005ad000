import type { Logger } from 'pino';
import { backOffMs } from '../../../machines/values/back-off.ts';
import type { Clock, Timer } from '../../host/time/clock.ts';

/** Pauses between tries, as kubelet makes them. */
const WAITS = { firstMs: 1_000, maxMs: 300_000 };

/** What a wiper works with. */
export interface SliceWiperOptions {
  /** Removes the ResourceSlices of a driver (null: of all) of this node; rejects while the node or the API server is not there. */
  wipe: (driver: string | null) => Promise<void>;
  clock: Clock;
  log: Logger;
}

/** Removes ResourceSlices of drivers that are gone, so that no pod is sent here for them; tried until it is done, or they are back. */
export class SliceWiper {
  private readonly options: SliceWiperOptions;
  private readonly tries = new Map<string, { failures: number; timer: Timer | undefined }>();

  constructor(options: SliceWiperOptions) {
    this.options = options;
  }

  /** Begins to; '' are all drivers. */
  wipe(driver: string): void {
    if (this.tries.has(driver)) return;
    this.tries.set(driver, { failures: 0, timer: undefined });
    void this.tryOnce(driver);
  }

  /** The driver is back: its slices stay. */
  spare(driver: string): void {
    this.tries.get(driver)?.timer?.cancel();
    this.tries.delete(driver);
  }

  stop(): void {
    for (const driver of [...this.tries.keys()]) this.spare(driver);
  }

  private async tryOnce(driver: string): Promise<void> {
    const { wipe, clock, log } = this.options;
    const one = this.tries.get(driver);
    if (one === undefined) return;
    try {
      await wipe(driver === '' ? null : driver);
      if (this.tries.get(driver) === one) this.tries.delete(driver);
      log.info({ driverName: driver }, 'Deleted ResourceSlices');
    } catch (error) {
      if (this.tries.get(driver) !== one) return;
      // Nothing there is as good as removed.
      if ((error as { reason?: string }).reason === 'NotFound') {
        this.tries.delete(driver);
        return;
      }
      one.failures++;
      log.debug({ err: error, driverName: driver }, 'Deleting ResourceSlice failed, retrying');
      one.timer = clock.lookAfter(backOffMs(one.failures, WAITS), () => void this.tryOnce(driver));
    }
  }
}
