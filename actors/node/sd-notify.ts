import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import type { HealthCheck } from '../serve/server/health-checks.ts';
import { Watchdog } from './watchdog.ts';

const run = promisify(execFile);

/** How long systemd's tool may take, ms: it only writes to a socket. */
const TOOL_MS = 10_000;

/** What systemd is told of. */
export interface SdNotifyOptions {
  /** How long systemd waits for a sign of life, ms; 0: it waits for none. */
  watchdogMs: number;
  /** What has to move for that. */
  checks: readonly HealthCheck[];
  log: Logger;
  env?: NodeJS.ProcessEnv;
}

/** systemd's view of the daemon: READY once, and the watchdog while all that has to move does. Without NOTIFY_SOCKET nothing happens. */
export async function startSdNotify(options: SdNotifyOptions): Promise<{ stop(): void }> {
  const { watchdogMs, checks, log, env = process.env } = options;
  if (env['NOTIFY_SOCKET'] === undefined) return { stop: () => undefined };
  // Node has no datagram sockets of the unix family; systemd's own tool speaks for us.
  const tell = async (...args: string[]): Promise<void> => {
    await run('systemd-notify', [`--pid=${process.pid}`, ...args], { env, timeout: TOOL_MS, killSignal: 'SIGKILL' });
  };
  await tell('--ready').catch((err: unknown) => log.warn({ err }, 'systemd-notify failed'));
  if (watchdogMs === 0) {
    log.info('Systemd watchdog is not enabled');
    return { stop: () => undefined };
  }
  const watchdog = new Watchdog({ timeoutMs: watchdogMs, checks, notify: () => tell('WATCHDOG=1'), log });
  watchdog.start();
  return watchdog;
}
