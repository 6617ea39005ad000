import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Logger } from 'pino';

const run = promisify(execFile);

/** systemd's view of the daemon: READY once, and the watchdog while `alive` holds. Without NOTIFY_SOCKET nothing happens. */
export async function startSdNotify(
  alive: () => boolean,
  log: Logger,
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ stop(): void }> {
  if (env['NOTIFY_SOCKET'] === undefined) return { stop: () => undefined };
  // Node has no datagram sockets of the unix family; systemd's own tool speaks for us.
  const tell = (...args: string[]) =>
    run('systemd-notify', [`--pid=${process.pid}`, ...args]).catch((error: unknown) =>
      log.warn({ err: error }, 'systemd-notify failed'),
    );
  await tell('--ready');
  const usec = Number(env['WATCHDOG_USEC'] ?? 0);
  const timer = usec > 0 ? setInterval(() => alive() && void tell('WATCHDOG=1'), usec / 2000) : undefined;
  return { stop: () => clearInterval(timer) };
}
