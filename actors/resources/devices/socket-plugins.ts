import { mkdir, readdir, lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import { RegistrationService } from '../../../cri/generated/deviceplugin/v1beta1/api.ts';
import type { Empty, RegisterRequest } from '../../../cri/generated/deviceplugin/v1beta1/api.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { pluginErrors } from '../../../machines/errors/plugin-errors.ts';
import { isExtendedResource } from '../../../machines/values/extended-resource.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import type { PluginHandler } from '../plugins/plugin-handler.ts';
import type { DevicePlugins, PluginHears } from './device-plugins.ts';
import { PluginConnection } from './plugin-connection.ts';

/** The one version of the API that there is. */
const VERSION = 'v1beta1';
/** Where plugins register, and what kubelet keeps beside that. */
const SOCKET = 'kubelet.sock';

/** Where device plugins are looked for, and who hears of them. */
export interface SocketPluginsOptions {
  /** `device-plugins` in the root directory. Plugins' sockets stand there, too. */
  folder: string;
  hears: PluginHears;
  log: Logger;
  metrics: Pick<Metrics, 'devicePluginRegistrations'>;
}

/**
 * The device plugins of this machine: they register at `kubelet.sock` in their folder, or by the plugin manager, as plugins of type
 * `DevicePlugin`. A plugin that registers again takes the place of what was there for its resource.
 */
export class SocketPlugins implements DevicePlugins, PluginHandler {
  private readonly options: SocketPluginsOptions;
  private readonly connections = new Map<string, PluginConnection>();
  private server: Server | undefined;

  constructor(options: SocketPluginsOptions) {
    this.options = options;
  }

  async start(): Promise<void> {
    const { folder, log } = this.options;
    await mkdir(folder, { recursive: true, mode: 0o750 });
    await removeSockets(folder, log);
    // Plugins made with kubelet's own stub do not register here where it stands; kubelet for Linux makes none (an older actorlet did).
    await rm(join(folder, 'DEPRECATION'), { force: true });
    const server = new Server();
    server.addService(RegistrationService, {
      register: (call: ServerUnaryCall<RegisterRequest, Empty>, done: sendUnaryData<Empty>) => {
        this.register(call.request).then(
          () => done(null, {}),
          (error: unknown) => done({ code: 2, details: messageOf(error) }),
        );
      },
    });
    this.server = server;
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(`unix:${join(folder, SOCKET)}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      ),
    );
  }

  async stop(): Promise<void> {
    for (const [, connection] of this.connections) connection.close();
    this.connections.clear();
    this.server?.forceShutdown();
    this.server = undefined;
    await rm(join(this.options.folder, SOCKET), { force: true });
  }

  validate(name: string, versions: readonly string[]): void {
    if (!versions.includes(VERSION))
      throw new Error(`manager version, ${VERSION}, is not among plugin supported versions [${versions.join(' ')}]`);
    if (!isExtendedResource(name))
      throw new Error(`invalid name of device plugin socket: the ResourceName ${JSON.stringify(name)} is invalid`);
  }

  async registered(name: string, endpoint: string): Promise<void> {
    await this.connect(name, endpoint);
  }

  deregistered(name: string, endpoint: string): void {
    const connection = this.connections.get(name);
    if (connection?.socket === endpoint) this.drop(name, connection);
  }

  prefer(resource: string, ask: { available: string[]; mustInclude: string[]; size: number }): Promise<string[]> {
    return this.of(resource).prefer(ask);
  }

  async allocate(resource: string, ids: string[]): ReturnType<DevicePlugins['allocate']> {
    return this.of(resource).allocate(ids);
  }

  async preStart(resource: string, ids: string[]): Promise<void> {
    await this.of(resource).preStart(ids);
  }

  private of(resource: string): PluginConnection {
    const connection = this.connections.get(resource);
    if (connection === undefined) throw new Error(`endpoint ${resource} has been stopped`);
    return connection;
  }

  private async register({ version, resourceName, endpoint }: RegisterRequest): Promise<void> {
    const { folder, log, metrics } = this.options;
    log.info({ resourceName }, 'Got registration request from device plugin with resource');
    metrics.devicePluginRegistrations.inc({ resource_name: resourceName });
    try {
      if (version !== VERSION)
        throw new Error(
          `requested API version ${JSON.stringify(version)} is not supported by kubelet. Supported version is ["${VERSION}"]`,
        );
      if (!isExtendedResource(resourceName))
        throw new Error(`the ResourceName ${JSON.stringify(resourceName)} is invalid`);
      await this.connect(resourceName, join(folder, endpoint));
    } catch (error) {
      this.tellBad(resourceName, error);
      throw error;
    }
  }

  private async connect(name: string, socket: string): Promise<void> {
    const before = this.connections.get(name);
    const connection = new PluginConnection(socket);
    this.connections.set(name, connection);
    before?.close();
    const { hears, log } = this.options;
    try {
      const options = await connection.connect();
      // Another one of this resource has registered meanwhile.
      if (this.connections.get(name) !== connection) throw new Error(`${name} was registered again`);
      hears.came(name, options);
    } catch (error) {
      if (this.connections.get(name) === connection) this.drop(name, connection, before !== undefined);
      else connection.close();
      throw error;
    }
    connection.follow({
      told: (devices) => this.connections.get(name) === connection && hears.told(name, devices),
      ended: (error) => {
        if (this.connections.get(name) !== connection) return;
        log.error({ resource: name, err: error }, 'ListAndWatch ended unexpectedly for device plugin');
        this.drop(name, connection);
      },
    });
  }

  private drop(name: string, connection: PluginConnection, wasThere = true): void {
    this.connections.delete(name);
    connection.close();
    if (wasThere) this.options.hears.went(name);
  }

  private tellBad(resource: string, error: unknown): void {
    const params = { resource, problem: messageOf(error) };
    const err = new ActorletError(pluginErrors.deviceRefused, params, { cause: error });
    this.options.log.error({ err }, 'Device plugin');
  }
}

/** Sockets of another agent's time lead nowhere: plugins watch for this, and register again. */
async function removeSockets(folder: string, log: Logger): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    try {
      if ((await lstat(path)).isSocket()) await rm(path, { force: true });
    } catch (error) {
      log.error({ err: error, path }, 'Failed to remove file');
    }
  }
}
