import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ActorletError } from '../../machines/errors/define.ts';
import { runtimeErrors } from '../../machines/errors/runtime-errors.ts';
import { BackOff } from '../../machines/values/back-off.ts';
import { ensureImages } from './import-images.ts';
import { PAUSE_IMAGE, ownImageArchive } from './own-images.ts';
import { findRuntimeBinaries } from './binaries.ts';
import type { RuntimeBinaries } from './binaries.ts';
import { boundLog } from './bounded-log.ts';
import { containerdConfig } from './containerd-config.ts';
import { adoptDaemon, spawnDaemon } from './daemon-process.ts';
import type { DaemonProcess } from './daemon-process.ts';
import { hostFacts } from './host-facts.ts';
import { containerdLayout } from './layout.ts';
import type { ContainerdLayout } from './layout.ts';
import { removeNetwork } from './network-remains.ts';
import { preparePodNetwork } from './pod-network.ts';
import type { RuntimeLog } from './runtime-log.ts';
import { stopPrivateContainerd } from './stop-private-containerd.ts';

/** What to start. */
export interface PrivateContainerdOptions {
  /** The agent's `--root-dir`; everything lives in its folder `containerd/`. */
  rootDir: string;
  /** A pino logger fits. */
  log: RuntimeLog;
  /** Called when a containerd that had died serves again. */
  onRestart?: (pid: number) => void;
  /** Must be the agent's own `cgroupDriver`; cgroupfs by default. */
  cgroupDriver?: 'cgroupfs' | 'systemd';
  /** Further runtime handlers, all runc (for RuntimeClass). */
  runtimeHandlers?: readonly string[];
  /** A folder of `HOST/hosts.toml`, containerd's `config_path`: mirrors of registries. */
  registryHosts?: string;
  /** A containerd that is not on PATH. */
  containerd?: string;
}

/** A containerd of the agent's own. */
export interface PrivateContainerd {
  /** `unix:///...`, for `--container-runtime-endpoint` of any CRI client. */
  readonly endpoint: string;
  /** Changes with a restart. */
  readonly pid: number;
  /** True when it was already running and was taken over. */
  readonly adopted: boolean;
  readonly layout: ContainerdLayout;
  /**
   * Ends it and everything it ran: containers, shims, mounts, cgroups of containers, the bridge, iptables rules,
   * network namespaces. Images stay unless `purge` is set. Throws RTM011 when something could not be removed.
   */
  stop(options?: { purge?: boolean }): Promise<void>;
  /** Ends the supervision only: containerd and its containers go on, and a later agent takes them over. */
  detach(): void;
}

/**
 * Starts the private containerd below `<rootDir>/containerd/`, or takes over the one that an earlier agent left, with
 * a bridge network and the images `localhost/actorlet/pause:1` and `localhost/actorlet/busybox:1`. It is restarted
 * when it dies, with back-off. Throws RTM001-RTM010 ({@link runtimeErrors}).
 */
export async function startPrivateContainerd(options: PrivateContainerdOptions): Promise<PrivateContainerd> {
  const { log } = options;
  const uid = process.getuid?.() ?? 0;
  if (uid !== 0) throw new ActorletError(runtimeErrors.notRoot, { uid });
  const layout = containerdLayout(options.rootDir);
  const [binaries, images] = await Promise.all([findRuntimeBinaries(options), ownImageArchive()]);
  await mkdir(layout.dir, { recursive: true, mode: 0o711 });
  const facts = await hostFacts(layout.root);
  const config = containerdConfig({
    layout,
    version: binaries.version,
    facts,
    cniBinDir: binaries.cniBinDir,
    sandboxImage: PAUSE_IMAGE,
    cgroupDriver: options.cgroupDriver ?? 'cgroupfs',
    runtimeHandlers: options.runtimeHandlers ?? [],
    registryHosts: options.registryHosts ?? null,
  });
  const changed = (await readFile(layout.config, 'utf8').catch(() => config)) !== config;
  await preparePodNetwork(layout, log);
  await writeFile(layout.config, config);

  const started = performance.now();
  const daemon =
    (await adoptDaemon(layout)) ??
    (await startFresh(layout, binaries).catch(async (error: unknown) => {
      await removeNetwork(layout);
      throw error;
    }));
  if (daemon.adopted && changed) {
    log.warn(
      { config: layout.config },
      'The adopted containerd runs with an older configuration until it is restarted',
    );
  }
  const target = { ctr: binaries.ctr, socket: layout.socket, snapshotter: facts.snapshotter };
  try {
    const outcome = await ensureImages(target, layout, images);
    if (outcome === 'imported') log.info({ images: images.refs }, 'Imported the images made from this machine');
  } catch (error) {
    if (!daemon.adopted) await stopPrivateContainerd(layout).catch(() => {});
    throw error;
  }
  const ms = Math.round(performance.now() - started);
  log.info(
    { pid: daemon.pid, endpoint: layout.endpoint, adopted: daemon.adopted, ms },
    daemon.adopted ? 'Adopted the running private containerd' : 'Started a private containerd',
  );
  return supervise(daemon, layout, binaries, options);
}

/** containerd expects its state folder to be empty after a boot; ours is on disk, where it survives one. */
async function startFresh(layout: ContainerdLayout, binaries: RuntimeBinaries): Promise<DaemonProcess> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  if ((await readFile(layout.bootFile, 'utf8').catch(() => boot)) !== boot) {
    await rm(layout.state, { recursive: true, force: true });
  }
  await writeFile(layout.bootFile, boot);
  return spawnDaemon(layout, binaries);
}

function supervise(
  first: DaemonProcess,
  layout: ContainerdLayout,
  binaries: RuntimeBinaries,
  { log, onRestart }: PrivateContainerdOptions,
): PrivateContainerd {
  let daemon = first;
  let inFlight: Promise<unknown> = Promise.resolve();
  const over = new AbortController();
  const logTimer = setInterval(() => void boundLog(layout.log).catch(() => {}), 60_000);
  logTimer.unref();

  const watch = async () => {
    const restarts = new RestartDelay();
    let delayMs = 0;
    while (!over.signal.aborted) {
      const since = performance.now();
      await daemon.ended;
      if (over.signal.aborted) return;
      delayMs = restarts.next(performance.now() - since);
      log.error({ pid: daemon.pid, log: layout.log, delayMs }, 'The private containerd died; it is started again');
      const restarted = await restart();
      if (restarted === null) return;
      daemon = restarted;
      log.info({ pid: daemon.pid }, 'The private containerd serves again');
      onRestart?.(daemon.pid);
    }

    async function restart(): Promise<DaemonProcess | null> {
      for (;;) {
        // not unref'd: an agent with nothing else to do must still bring its runtime back
        await sleep(delayMs, undefined, { signal: over.signal }).catch(() => {});
        if (over.signal.aborted) return null;
        try {
          const attempt = adoptDaemon(layout).then((adopted) => adopted ?? spawnDaemon(layout, binaries));
          inFlight = attempt;
          return await attempt;
        } catch (error) {
          delayMs = restarts.next(0);
          log.error({ err: error, delayMs }, 'The private containerd cannot be started again yet');
        }
      }
    }
  };
  watch().catch((error: unknown) => log.error({ err: error }, 'The private containerd is no longer watched'));

  const detach = () => {
    over.abort();
    clearInterval(logTimer);
    daemon.forget();
  };
  return {
    endpoint: layout.endpoint,
    get pid() {
      return daemon.pid;
    },
    adopted: first.adopted,
    layout,
    detach,
    async stop(stopOptions) {
      detach();
      // a start in flight must end first: the process it makes could come after our look
      await inFlight.catch(() => {});
      await stopPrivateContainerd(layout, stopOptions);
      log.info({ endpoint: layout.endpoint }, 'Stopped the private containerd and all that it ran');
    },
  };
}

/** Delay before the first restart, the longest delay, and how long a run must last to start over; all in ms. */
export const RESTART_BACK_OFF = { firstMs: 100, maxMs: 30_000, resetAfterMs: 60_000 } as const;

/** Delays before restarts of a daemon: doubling from 0.1 s to 30 s, from the start again after a run of a minute. */
export class RestartDelay {
  private readonly backOff = new BackOff(RESTART_BACK_OFF);

  /** The delay, ms, after the daemon ran for so long (0: it did not start). */
  next(ranMs: number): number {
    if (ranMs >= RESTART_BACK_OFF.resetAfterMs) this.backOff.reset();
    return this.backOff.next();
  }
}
