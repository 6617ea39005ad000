import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isCriError } from '../../cri/client/cri-error.ts';
import type { CriClient } from '../../cri/client/cri-client.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { nodeErrors } from '../../machines/errors/node-errors.ts';

/** How often RuntimeConfig is tried, and the pause in between, ms: a runtime that starts may not answer it yet. */
const TRIES = 3;
const PAUSE_MS = 2_000;
const NAMES: readonly CgroupDriver[] = ['systemd', 'cgroupfs'];

type CgroupDriver = 'systemd' | 'cgroupfs';

/** What goes with the search for the driver. */
export interface DriverSearch {
  log: Logger;
  /** The runtime has no RuntimeConfig (`kubelet_cri_losing_support`). */
  onFallback?: () => void;
  /** For tests. */
  wait?: (ms: number) => Promise<unknown>;
}

/**
 * The cgroup driver of the runtime (RuntimeConfig, gate KubeletCgroupDriverFromCRI; D2), which goes before the configured
 * one: both sides must name cgroups alike. A runtime without RuntimeConfig (containerd 1.x) leaves the configured one.
 * Rejects with the CRI error of the last try, or NOD004 for a driver that has no name here.
 */
export async function cgroupDriverOf(
  runtime: Pick<CriClient['runtime'], 'runtimeConfig'>,
  configured: CgroupDriver,
  { log, onFallback, wait = sleep }: DriverSearch,
): Promise<CgroupDriver> {
  for (let tries = 1; ; tries++) {
    try {
      const { linux } = await runtime.runtimeConfig({});
      if (linux === undefined) return configured;
      const driver = NAMES[linux.cgroupDriver];
      if (driver === undefined) throw new ActorletError(nodeErrors.unknownCgroupDriver, { driver: linux.cgroupDriver });
      log.info({ cgroupDriver: driver }, 'Using cgroup driver setting received from the CRI runtime');
      return driver;
    } catch (error) {
      if (isCriError(error, 'Unimplemented')) {
        log.info(
          'CRI implementation should be updated to support RuntimeConfig. Falling back to using cgroupDriver from kubelet config.',
        );
        onFallback?.();
        return configured;
      }
      if (error instanceof ActorletError || tries === TRIES) throw error;
      await wait(PAUSE_MS);
    }
  }
}
