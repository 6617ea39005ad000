import type { Logger } from 'pino';
import { configErrors } from '../../machines/errors/config-errors.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { goDuration } from '../../machines/values/go-duration.ts';
import { messageOf } from '../../machines/values/message-of.ts';
import type { HealthCheck } from '../serve/server/health-checks.ts';

/** systemd must be given at least so long, ms (kubelet minimalNotifyInterval). */
const LEAST_MS = 1_000;
/** Time until a word that did not reach systemd is said once more, ms. */
const RETRY_MS = 1_000;

/**
 * How long systemd waits for a sign of life before it ends this process, ms; 0 when it does not wait for any
 * (sd_watchdog_enabled). Throws CFG042 when it is told wrongly or does not wait long enough, as kubelet does.
 */
export function watchdogMs(env: NodeJS.ProcessEnv, pid: number): number {
  const { WATCHDOG_USEC: usec = '', WATCHDOG_PID: of = '' } = env;
  const wrong = (problem: string): never => {
    throw new ActorletError(configErrors.watchdog, { problem });
  };
  if (usec === '') return 0;
  if (!/^[+-]?\d{1,15}$/.test(usec)) return wrong(`error converting WATCHDOG_USEC: ${JSON.stringify(usec)}`);
  const ms = Number(usec) / 1_000;
  if (ms <= 0) return wrong('error WATCHDOG_USEC must be a positive number');
  if (of !== '' && !/^[+-]?\d{1,15}$/.test(of)) return wrong(`error converting WATCHDOG_PID: ${JSON.stringify(of)}`);
  if (of !== '' && Number(of) !== pid) return 0;
  if (ms <= LEAST_MS) return wrong(`configure watchdog timeout too small: ${goDuration(ms)}`);
  return ms;
}

/** What the watchdog works with. */
export interface WatchdogOptions {
  /** Of {@link watchdogMs}, not 0. */
  timeoutMs: number;
  /** What has to move. */
  checks: readonly HealthCheck[];
  /** Says the word to systemd. */
  notify: () => Promise<void>;
  log: Logger;
}

/**
 * Tells systemd twice in its time that the agent lives, as long as all that has to move does. It is the main thread's timer that
 * does it: when that hangs nothing is said either.
 */
export class Watchdog {
  private readonly options: WatchdogOptions;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(options: WatchdogOptions) {
    this.options = options;
  }

  start(): void {
    const { timeoutMs, log } = this.options;
    const interval = timeoutMs / 2;
    log.info({ interval: goDuration(interval) }, 'Starting systemd watchdog with interval');
    this.timer = setInterval(() => void this.once(), interval);
    void this.once();
  }

  stop(): void {
    this.stopped = true;
    clearInterval(this.timer);
  }

  private async once(): Promise<void> {
    const { checks, notify, log } = this.options;
    for (const { name, check } of checks) {
      const problem = resultOf(check);
      if (problem === null) continue;
      const err = new Error(`checker ${name} failed: ${problem}`);
      log.error({ err }, 'Do not notify watchdog this iteration as the kubelet is reportedly not healthy');
      return;
    }
    try {
      await notify().catch(async (err: unknown) => {
        log.info({ v: 5, err }, 'Failed to notify systemd watchdog, retrying');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
        if (!this.stopped) await notify();
      });
    } catch (err) {
      log.error({ err }, 'Failed to notify watchdog');
    }
  }
}

/** A check that throws has failed. */
function resultOf(check: () => string | null): string | null {
  try {
    return check();
  } catch (error) {
    return messageOf(error);
  }
}
