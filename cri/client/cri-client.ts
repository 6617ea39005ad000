import { Client, credentials } from '@grpc/grpc-js';
import type { ClientOptions } from '@grpc/grpc-js';
import { criErrors } from '../../machines/errors/cri-errors.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { ImageServiceService, RuntimeServiceService } from '../generated/runtime/v1/api.ts';
import type { ContainerEventResponse, MessageFns, VersionResponse } from '../generated/runtime/v1/api.ts';
import { unaryCall } from './call.ts';
import type { CallOptions, CallReport, CallSettings, CriHooks } from './call.ts';
import { CriError } from './cri-error.ts';
import { containerEvents } from './events.ts';
import { listDecoders } from './known-items.ts';
import type { DecodeList } from './known-items.ts';
import { imageRequests, runtimeRequests } from './methods.ts';
import type { ImageCalls, ImageMethod, RuntimeCalls, RuntimeMethod } from './methods.ts';

/** Settings of {@link createCriClient}. */
export interface CriClientSettings {
  /** `unix:///run/containerd/containerd.sock`. */
  endpoint: string;
  /** Where ImageService is served; the same endpoint (and connection) when absent or empty. */
  imageEndpoint?: string;
  /** `runtimeRequestTimeout` in ms; the base of all deadlines. Default 2 min. */
  timeoutMs?: number;
  /** How long a call is repeated after Unavailable, in ms. Default 1500: bridges a restart of the runtime. */
  retryMs?: number;
  hooks?: CriHooks;
}

/** Typed access to a container runtime. Every call rejects with a `CriError`. */
export interface CriClient {
  readonly runtime: RuntimeCalls<CallOptions>;
  readonly image: ImageCalls<CallOptions>;
  /** Events of all containers; see `containerEvents` in events.ts. */
  containerEvents(signal?: AbortSignal): AsyncIterable<ContainerEventResponse>;
  /**
   * Waits until the runtime answers and checks that it speaks CRI v1.
   * @throws ActorletError CRI002, CRI003, CRI004
   */
  waitReady(timeoutMs: number, signal?: AbortSignal): Promise<VersionResponse>;
  /** Ends the connection; calls under way fail. */
  close(): void;
}

const maxMessageBytes = 32 * 1024 * 1024;

const channelOptions: ClientOptions = {
  // Lists of many containers and the output of ExecSync go beyond gRPC's 4 MiB; the kubelet allows 16.
  'grpc.max_receive_message_length': maxMessageBytes,
  'grpc.max_send_message_length': maxMessageBytes,
  // A runtime that comes back must be seen within a second.
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 500,
  // Back-off and connection belong to this client alone.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
};

/**
 * Connects lazily, keeps one connection (two with an own image endpoint) and reconnects by itself.
 * @throws ActorletError CRI001 for an endpoint that cannot be used
 */
export function createCriClient(settings: CriClientSettings): CriClient {
  const shared: CallSettings = {
    timeoutMs: settings.timeoutMs ?? 120_000,
    retryMs: settings.retryMs ?? 1500,
    hooks: settings.hooks ?? {},
  };
  const runtimeClient = connect(settings.endpoint);
  const imageEndpoint = settings.imageEndpoint ?? '';
  const separate = imageEndpoint !== '' && socketPath(imageEndpoint) !== socketPath(settings.endpoint);
  const imageClient = separate ? connect(imageEndpoint) : runtimeClient;

  // The compiler checks the tables method by method; their common type is too wide for it to see that here.
  const runtime = callsOf(runtimeClient, 'RuntimeService', RuntimeServiceService, runtimeRequests, shared);
  const image = callsOf(imageClient, 'ImageService', ImageServiceService, imageRequests, shared);
  const calls = { runtime: runtime as RuntimeCalls<CallOptions>, image: image as ImageCalls<CallOptions> };
  return {
    ...calls,
    containerEvents: (signal) => containerEvents(runtimeClient, signal),
    waitReady: (timeoutMs, signal) => waitReady(calls.runtime, settings.endpoint, timeoutMs, signal),
    close: () => {
      runtimeClient.close();
      if (separate) imageClient.close();
    },
  };
}

function connect(endpoint: string): Client {
  return new Client(`unix://${socketPath(endpoint)}`, credentials.createInsecure(), channelOptions);
}

type AnyCall = (request: object, options?: CallOptions) => Promise<unknown>;
type Definitions = Record<string, { path: string; responseDeserialize: (bytes: Buffer) => unknown }>;

function callsOf(
  client: Client,
  service: CallReport['service'],
  definitions: Definitions,
  requests: object,
  settings: CallSettings,
): Record<string, AnyCall> {
  const calls: Record<string, AnyCall> = {};
  const lists = listDecoders();
  for (const [name, request] of Object.entries(requests) as [RuntimeMethod | ImageMethod, MessageFns<object>][]) {
    const definition = definitions[name];
    if (definition === undefined) throw new TypeError(`no method ${name} in ${service}`);
    const { path, responseDeserialize } = definition;
    const list = lists[name as RuntimeMethod];
    const decode = list === undefined ? responseDeserialize : listOf(list);
    calls[name] = unaryCall({ client, service, method: name, path, request, decode }, settings);
  }
  return calls;
}

/** Reads the answer to a request for a list; without a filter it is the list of everything. */
function listOf(decode: DecodeList): (bytes: Buffer, request: { filter?: object | undefined }) => object {
  return (bytes, { filter }) => decode(bytes, filter === undefined);
}

async function waitReady(
  runtime: RuntimeCalls<CallOptions>,
  endpoint: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<VersionResponse> {
  let version: VersionResponse;
  try {
    version = await runtime.version({ version: 'v1' }, { timeoutMs, retryMs: timeoutMs, signal });
  } catch (error) {
    if (!(error instanceof CriError) || signal?.aborted) throw error;
    if (error.code === 'Unimplemented')
      throw new ActorletError(criErrors.notCri, { endpoint, why: error.details }, { cause: error });
    const params = { endpoint, seconds: timeoutMs / 1000, why: error.message };
    throw new ActorletError(criErrors.notReachable, params, { cause: error });
  }
  if (version.runtimeApiVersion !== 'v1')
    throw new ActorletError(criErrors.wrongApiVersion, {
      endpoint,
      name: version.runtimeName,
      version: version.runtimeVersion,
      api: version.runtimeApiVersion,
    });
  return version;
}

/** Linux: `sun_path` has 108 bytes with its final zero. */
const maxSocketPath = 107;

/**
 * The socket path of a runtime endpoint: `unix:///run/x.sock`, or a bare absolute path as the kubelet still takes.
 * @throws ActorletError CRI001
 */
export function socketPath(endpoint: string): string {
  const path = endpoint.startsWith('unix://') ? endpoint.slice('unix://'.length) : endpoint;
  let why: string | undefined;
  if (endpoint === '') why = 'it is empty';
  else if (/^[a-z0-9]+:/i.test(path)) why = `only unix sockets are supported, not ${path.slice(0, path.indexOf(':'))}`;
  else if (!path.startsWith('/')) why = 'the path of the socket must be absolute';
  else if (Buffer.byteLength(path) > maxSocketPath)
    why = `the path has ${String(Buffer.byteLength(path))} bytes, a unix socket may have ${String(maxSocketPath)}`;
  if (why !== undefined) throw new ActorletError(criErrors.invalidEndpoint, { endpoint, why });
  return path;
}
