import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { QosCgroups } from '../../../machines/qos/pod-cgroup.ts';
import type { TierMemory } from '../../../machines/qos/tier-memory.ts';
import type { CgroupHost } from '../files/cgroup-host.ts';
import type { CgroupDriver } from './driver.ts';

/** Time from one try to bring a cgroup down to its limit to the next, ms (kubelet periodicQOSCgroupUpdateInterval). */
const RETRY_MS = 60_000;

/** What it works on. */
export interface TierMemoryOptions {
  driver: CgroupDriver;
  host: CgroupHost;
  qos: QosCgroups;
  log: Logger;
  /** Ms, of a clock that nobody can set. */
  steady: () => number;
}

/** Keeps the memory of burstable and of best-effort pods within limits (`qosReserved`). */
export class TierMemoryLimits {
  private readonly options: TierMemoryOptions;
  private set = '';
  /** When those that have more than their limit are looked at again. */
  private again = Infinity;

  constructor(options: TierMemoryOptions) {
    this.options = options;
  }

  /**
   * Sets them when they are others than before. A class that already has more is kept from getting still more (kubelet's
   * retrySetMemoryReserve), and brought down as soon as the kernel lets it. Never rejects.
   */
  async hold(limits: TierMemory): Promise<void> {
    const { qos, log, steady } = this.options;
    const wanted = JSON.stringify(limits);
    if (wanted === this.set && steady() < this.again) return;
    const held = [
      await this.limit(qos.burstable, limits.burstable),
      await this.limit(qos.bestEffort, limits.bestEffort),
    ];
    this.set = wanted;
    this.again = held.every((done) => done) ? Infinity : steady() + RETRY_MS;
    if (this.again === Infinity) log.debug({ ...limits }, 'Updated QoS cgroup configuration');
  }

  /** False when it is not the limit yet that it should be. */
  private async limit(path: string, bytes: number): Promise<boolean> {
    const { driver, log } = this.options;
    try {
      await driver.set(path, { memoryLimitBytes: bytes });
      return true;
    } catch (err) {
      const used = await this.usage(path).catch(() => 0);
      if (used > bytes)
        await driver
          .set(path, { memoryLimitBytes: used })
          .catch((error: unknown) =>
            log.error({ err: error, cgroup: path }, 'Failed to update QoS cgroup configuration'),
          );
      else log.error({ err, cgroup: path }, 'Failed to update QoS cgroup configuration');
      return false;
    }
  }

  private async usage(path: string): Promise<number> {
    const { version, mounts } = this.options.host;
    const file =
      version === 2
        ? join(mounts[''] ?? '', path, 'memory.current')
        : join(mounts['memory'] ?? '', path, 'memory.usage_in_bytes');
    return Number((await readFile(file, 'utf8')).trim());
  }
}
