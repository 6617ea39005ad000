/** A device plugin of a test: `v1beta1.DevicePlugin` on a socket of its own. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { credentials, Metadata, Server, ServerCredentials } from '@grpc/grpc-js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { DevicePluginService, RegistrationClient } from '../../cri/generated/deviceplugin/v1beta1/api.ts';
import type {
  ContainerAllocateResponse,
  DevicePluginServer,
  Empty,
  ListAndWatchResponse,
} from '../../cri/generated/deviceplugin/v1beta1/api.ts';
import { RegistrationService } from '../../cri/generated/pluginregistration/v1/api.ts';

/** What a plugin of a test does. */
export interface PluginBehaviour {
  /** Devices with their health. */
  devices: Record<string, 'Healthy' | 'Unhealthy'>;
  prefers?: (available: string[]) => string[];
  preStart?: true;
  /** A call that fails with this text. */
  failing?: { allocate?: string; preStart?: string };
  answer?: (ids: string[]) => Partial<ContainerAllocateResponse>;
}

/** A plugin for one resource that listens in `folder`, `device-plugins` or `plugins_registry` of a root directory. */
export class TestDevicePlugin {
  readonly behaviour: PluginBehaviour;
  /** Calls in their order: `Allocate a,b`. */
  readonly calls: string[] = [];
  /** What the node said of a registration by `plugins_registry`. */
  readonly told: { pluginRegistered: boolean; error: string }[] = [];
  private readonly folder: string;
  private readonly name: string;
  private readonly resource: string;
  private readonly streams = new Set<ServerWritableStream<Empty, ListAndWatchResponse>>();
  private server: Server | undefined;

  constructor(folder: string, name: string, resource: string, behaviour: PluginBehaviour) {
    this.folder = folder;
    this.name = name;
    this.resource = resource;
    this.behaviour = behaviour;
  }

  get socket(): string {
    return join(this.folder, this.name);
  }

  /** @param watched registers by its socket: the plugin manager asks it */
  async start(watched = false): Promise<void> {
    this.stop();
    const server = new Server();
    const { behaviour } = this;
    const failure = (text: string) => ({ code: 2, details: text });
    const calls: DevicePluginServer = {
      getDevicePluginOptions: (_call, done) =>
        done(null, {
          preStartRequired: behaviour.preStart === true,
          getPreferredAllocationAvailable: behaviour.prefers !== undefined,
        }),
      listAndWatch: (stream) => {
        this.streams.add(stream);
        stream.on('cancelled', () => this.streams.delete(stream));
        stream.write(this.list());
      },
      getPreferredAllocation: ({ request }, done) => {
        const available = request.containerRequests[0]?.availableDeviceIDs ?? [];
        this.calls.push(`GetPreferredAllocation ${available.join()}`);
        done(null, { containerResponses: [{ deviceIDs: behaviour.prefers?.(available) ?? [] }] });
      },
      allocate: ({ request }, done) => {
        const ids = request.containerRequests[0]?.devicesIds ?? [];
        this.calls.push(`Allocate ${ids.join()}`);
        if (behaviour.failing?.allocate !== undefined) return done(failure(behaviour.failing.allocate));
        const empty = { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [] };
        done(null, { containerResponses: [{ ...empty, ...behaviour.answer?.(ids) }] });
      },
      preStartContainer: ({ request }, done) => {
        this.calls.push(`PreStartContainer ${request.devicesIds.join()}`);
        if (behaviour.failing?.preStart !== undefined) return done(failure(behaviour.failing.preStart));
        done(null, {});
      },
    };
    server.addService(DevicePluginService, calls);
    if (watched)
      server.addService(RegistrationService, {
        getInfo: (_call: unknown, done: (error: null, info: object) => void) =>
          done(null, { type: 'DevicePlugin', name: this.resource, endpoint: '', supportedVersions: ['v1beta1'] }),
        notifyRegistrationStatus: (
          { request }: { request: { pluginRegistered: boolean; error: string } },
          done: (error: null, answer: object) => void,
        ) => {
          this.told.push(request);
          done(null, {});
        },
      });
    this.server = server;
    if (existsSync(this.socket)) rmSync(this.socket);
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(`unix:${this.socket}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      ),
    );
  }

  /** Registers at the node's socket. Rejects with what the node says; and where kubelet's own stub for plugins would not register. */
  async register(version = 'v1beta1', resourceName = this.resource): Promise<void> {
    if (existsSync(join(this.folder, 'DEPRECATION'))) throw new Error('a file DEPRECATION is there: no registration');
    const client = new RegistrationClient(`unix:${join(this.folder, 'kubelet.sock')}`, credentials.createInsecure());
    try {
      await new Promise<void>((resolve, reject) =>
        client.register(
          { version, endpoint: this.name, resourceName, options: undefined },
          new Metadata(),
          { deadline: Date.now() + 30_000 },
          (error) => (error === null ? resolve() : reject(new Error(error.details))),
        ),
      );
    } finally {
      client.close();
    }
  }

  /** Tells the devices of now. */
  tell(): void {
    for (const stream of this.streams) stream.write(this.list());
  }

  /** It dies; its socket stays where it was. */
  stop(): void {
    this.server?.forceShutdown();
    this.server = undefined;
  }

  private list(): ListAndWatchResponse {
    const devices = Object.entries(this.behaviour.devices);
    return { devices: devices.map(([ID, health]) => ({ ID, health, topology: undefined })) };
  }
}
