import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { pluginErrors } from '../../../machines/errors/plugin-errors.ts';
import { backOffMs } from '../../../machines/values/back-off.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import type { Clock } from '../../host/time/clock.ts';
import type { PluginHandler } from './plugin-handler.ts';
import { registerPlugin } from './plugin-registration.ts';
import type { RegisteredPlugin } from './plugin-registration.ts';

/** Kubelet's reconciler looks each second; so nothing that a watch did not tell is missed for longer. */
const LOOK_MS = 1_000;
/** Kubelet's exponentialbackoff. */
const WAITS = { firstMs: 500, maxMs: 122_000 };
/** Sockets that are looked at, at most: the folder is the administrator's, and yet. */
const MOST_SOCKETS = 1_000;

/** What the plugin manager works with. */
export interface PluginManagerOptions {
  /** `plugins_registry` in the root directory. */
  folder: string;
  /** By the type that a plugin says it has: `DevicePlugin`, `CSIPlugin`, `DRAPlugin`. */
  handlers: ReadonlyMap<string, PluginHandler>;
  clock: Pick<Clock, 'steady'>;
  log: Logger;
}

/** A socket of the folder. */
interface Socket {
  /** Which file it is: one that was removed and made again is another one. */
  identity: string;
  /** Null while it is not registered. */
  plugin: RegisteredPlugin | null;
  /** A registration is under way. */
  busy: boolean;
  /** It was registered: what became of it is its handler's business. */
  done: boolean;
  failures: number;
  /** When it may be tried again, ms of a clock that nobody sets. */
  until: number;
}

/**
 * Registers the plugins that have a socket below `plugins_registry`, and takes them out when it goes (kubelet: pluginmanager). What is
 * there is looked at whole, each second and whenever the folder changes; an old socket with a new plugin behind it counts as another.
 */
export class PluginManager {
  private readonly options: PluginManagerOptions;
  private readonly sockets = new Map<string, Socket>();
  private watcher: FSWatcher | undefined;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private stopped = false;
  private blind = false;

  constructor(options: PluginManagerOptions) {
    this.options = options;
  }

  async start(): Promise<void> {
    const { folder, log } = this.options;
    try {
      await mkdir(folder, { recursive: true, mode: 0o750 });
      this.watcher = watch(folder, () => this.look());
      this.watcher.on('error', (error) => log.error({ err: error, folder }, 'Plugin watcher'));
      this.watcher.unref();
    } catch (error) {
      this.tellBlind(error);
    }
    this.timer = setInterval(() => this.look(), LOOK_MS).unref();
    this.look();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    this.watcher?.close();
    await this.looking;
  }

  /** Sockets that are there, and those whose plugins are registered (`plugin_manager_total_plugins`). */
  plugins(): { socket: string; registered: boolean }[] {
    return [...this.sockets].map(([socket, { plugin }]) => ({ socket, registered: plugin !== null }));
  }

  private look(): void {
    if (this.stopped || this.looking !== undefined) return;
    this.looking = this.lookOnce()
      .catch((error: unknown) => this.tellBlind(error))
      .finally(() => (this.looking = undefined));
  }

  private async lookOnce(): Promise<void> {
    const found = await socketsBelow(this.options.folder);
    this.blind = false;
    for (const [path, socket] of this.sockets) {
      if (found.get(path) === socket.identity) continue;
      this.sockets.delete(path);
      this.takeOut(socket);
    }
    const now = this.options.clock.steady();
    for (const [path, identity] of found) {
      let socket = this.sockets.get(path);
      if (socket === undefined) {
        socket = { identity, plugin: null, busy: false, done: false, failures: 0, until: now };
        this.sockets.set(path, socket);
      }
      if (!socket.busy && !socket.done && socket.until <= now) void this.register(path, socket);
    }
  }

  private async register(path: string, socket: Socket): Promise<void> {
    const { handlers, log, clock } = this.options;
    socket.busy = true;
    try {
      const untold = await registerPlugin(path, handlers, (plugin) => {
        if (this.sockets.get(path) === socket && !this.stopped) socket.plugin = plugin;
        else throw new Error('its socket is gone');
      });
      socket.done = true;
      log.info({ socket: path, plugin: socket.plugin?.name }, 'Plugin registered');
      if (untold !== null) log.error({ err: untold }, 'Plugin');
    } catch (error) {
      this.takeOut(socket);
      socket.failures++;
      socket.until = clock.steady() + backOffMs(socket.failures, WAITS);
      if (this.sockets.get(path) !== socket || this.stopped) return;
      const params = { socket: path, problem: messageOf(error) };
      log.error({ err: new ActorletError(pluginErrors.notRegistered, params, { cause: error }) }, 'Plugin');
    } finally {
      socket.busy = false;
    }
  }

  private takeOut(socket: Socket): void {
    const { plugin } = socket;
    socket.plugin = null;
    if (plugin !== null) plugin.handler.deregistered(plugin.name, plugin.endpoint);
  }

  private tellBlind(error: unknown): void {
    if (this.blind) return;
    this.blind = true;
    const params = { folder: this.options.folder, problem: messageOf(error) };
    this.options.log.error({ err: new ActorletError(pluginErrors.noFolder, params, { cause: error }) }, 'Plugins');
  }
}

/**
 * Sockets in a folder and in those below it, and links to sockets, but for those whose names begin with a dot, with what tells one from its
 * successor: not its owner, mode or label, which change while it is the same.
 */
async function socketsBelow(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const folders = [folder];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true })) {
      const path = join(at, entry.name);
      if (entry.isDirectory()) folders.push(path);
      if (!entry.isSocket() && !entry.isSymbolicLink()) continue;
      if (entry.name.startsWith('.') || found.size >= MOST_SOCKETS) continue;
      // It may have gone meanwhile, and a link may lead nowhere.
      const file = await ignoring(stat(path, { bigint: true }), 'ENOENT', 'ENOTDIR', 'ELOOP');
      if (file?.isSocket() !== true) continue;
      const { dev, ino, birthtimeNs, ctimeNs } = file;
      // A file system that writes down no birth tells of 1970.
      found.set(path, `${dev}/${ino}/${birthtimeNs > 0n ? birthtimeNs : ctimeNs}`);
    }
  }
  return found;
}
