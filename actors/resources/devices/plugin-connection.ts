import { credentials } from '@grpc/grpc-js';
import type { ClientOptions, ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import type {
  ContainerAllocateResponse,
  DevicePluginOptions,
  ListAndWatchResponse,
} from '../../../cri/generated/deviceplugin/v1beta1/api.ts';
import { DevicePluginClient } from '../../../cri/generated/deviceplugin/v1beta1/api.ts';
import type { AllocateResponse, Device, PluginOptions } from '../../../machines/devices/device-state.ts';
import { callPlugin, goCode, PLUGIN_CHANNEL, PLUGIN_MESSAGE_BYTES } from '../plugins/plugin-channel.ts';
import type { BeginCall } from '../plugins/plugin-channel.ts';
import type { DevicePlugins } from './device-plugins.ts';

/** How long a plugin may take to be there, and to say what it is, ms (kubelet: 10 s for the first, no limit for the second). */
const CONNECT_MS = 10_000;
/** How long it may take to say which devices it would like, and to make devices ready, ms. Kubelet waits without limit, and admits no other pod meanwhile. */
const PREFER_MS = 10_000;
const ALLOCATE_MS = 60_000;
/** KubeletPreStartContainerRPCTimeoutInSecs. */
const PRE_START_MS = 30_000;

const OPTIONS: ClientOptions = { ...PLUGIN_CHANNEL, 'grpc.max_receive_message_length': PLUGIN_MESSAGE_BYTES };

/** Who hears of one plugin's devices, until it ends. */
export interface ConnectionHears {
  told: (devices: Record<string, Device>) => void;
  /** Once, unless it was closed from here. */
  ended: (error: Error) => void;
}

/** A connection to one device plugin (`v1beta1.DevicePlugin`), as long as its list of devices is followed. */
export class PluginConnection implements Pick<DevicePluginCalls, 'prefer' | 'allocate' | 'preStart'> {
  readonly socket: string;
  private readonly client: DevicePluginClient;
  private stream: ClientReadableStream<ListAndWatchResponse> | undefined;
  private closed = false;

  constructor(socket: string) {
    this.socket = socket;
    this.client = new DevicePluginClient(`unix:${socket}`, credentials.createInsecure(), OPTIONS);
  }

  /** Waits until the plugin answers, and asks what it is. Rejects when it does not. */
  async connect(): Promise<PluginOptions> {
    await new Promise<void>((resolve, reject) =>
      this.client.waitForReady(Date.now() + CONNECT_MS, (error) =>
        error ? reject(new Error(`failed to dial device plugin: ${this.socket}`, { cause: error })) : resolve(),
      ),
    );
    const options = await call<DevicePluginOptions>(CONNECT_MS, (...rest) =>
      this.client.getDevicePluginOptions({}, ...rest),
    ).catch((error: unknown) => {
      throw new Error(`failed to get device plugin options: ${String((error as Error).message)}`, { cause: error });
    });
    return { preStart: options.preStartRequired, prefers: options.getPreferredAllocationAvailable };
  }

  /** Follows its devices (`ListAndWatch`). */
  follow({ told, ended }: ConnectionHears): void {
    const stream = this.client.listAndWatch({});
    this.stream = stream;
    let over = false;
    const end = (error: Error): void => {
      if (over || this.closed) return;
      over = true;
      ended(error);
    };
    stream.on('data', ({ devices }: ListAndWatchResponse) => {
      if (this.closed) return;
      told(
        Object.fromEntries(
          devices.map(({ ID, health, topology }) => [
            ID,
            { healthy: health === 'Healthy', nodes: (topology?.nodes ?? []).map((node) => Number(node.ID)) },
          ]),
        ),
      );
    });
    stream.on('error', end);
    stream.on('end', () => end(new Error('ListAndWatch ended')));
  }

  async prefer(ask: Parameters<DevicePluginCalls['prefer']>[0]): Promise<string[]> {
    const { available, mustInclude, size } = ask;
    const request = { availableDeviceIDs: available, mustIncludeDeviceIDs: mustInclude, allocationSize: size };
    const { containerResponses } = await call<{ containerResponses: { deviceIDs: string[] }[] }>(PREFER_MS, (...rest) =>
      this.client.getPreferredAllocation({ containerRequests: [request] }, ...rest),
    );
    return containerResponses[0]?.deviceIDs ?? [];
  }

  async allocate(ids: string[]): Promise<AllocateResponse | null> {
    const { containerResponses } = await call<{ containerResponses: ContainerAllocateResponse[] }>(
      ALLOCATE_MS,
      (...rest) => this.client.allocate({ containerRequests: [{ devicesIds: ids }] }, ...rest),
    );
    return containerResponses[0] ?? null;
  }

  async preStart(ids: string[]): Promise<void> {
    await call<object>(PRE_START_MS, (...rest) => this.client.preStartContainer({ devicesIds: ids }, ...rest));
  }

  close(): void {
    this.closed = true;
    this.stream?.cancel();
    this.client.close();
  }
}

/** The calls of {@link DevicePlugins}, of one plugin. */
type DevicePluginCalls = {
  [M in 'prefer' | 'allocate' | 'preStart']: Parameters<DevicePlugins[M]> extends [string, ...infer Rest]
    ? (...rest: Rest) => ReturnType<DevicePlugins[M]>
    : never;
};

/** One call, as a promise; a failure's message is as Go prints it. */
function call<R>(limitMs: number, begin: BeginCall<R>): Promise<R> {
  return callPlugin(limitMs, begin).catch((error: ServiceError) => {
    throw new Error(`rpc error: code = ${goCode(error)} desc = ${error.details}`, { cause: error });
  });
}
