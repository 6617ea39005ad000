import * as api from '../generated/runtime/v1/api.ts';
import type { DeepPartial, MessageFns } from '../generated/runtime/v1/api.ts';

type RuntimeMethods = typeof api.RuntimeServiceService;
type ImageMethods = typeof api.ImageServiceService;

/** Names of the methods of `S` that answer once. */
type UnaryNames<S> = { [M in keyof S]: S[M] extends { responseStream: false } ? M : never }[keyof S];
type Request<D> = D extends { requestDeserialize: (bytes: Buffer) => infer T } ? T : never;
type Response<D> = D extends { responseDeserialize: (bytes: Buffer) => infer T } ? T : never;

/** Name of a unary method of RuntimeService, e.g. `runPodSandbox`. */
export type RuntimeMethod = UnaryNames<RuntimeMethods>;
/** Name of a unary method of ImageService, e.g. `pullImage`. */
export type ImageMethod = UnaryNames<ImageMethods>;

/** One async function a method of `S`; fields left out of a request have their protobuf default. */
type Calls<S, M extends keyof S, O> = {
  [K in M]: (request: DeepPartial<Request<S[K]>>, options?: O) => Promise<Response<S[K]>>;
};
/** All unary calls of RuntimeService, as functions that take options `O`. */
export type RuntimeCalls<O> = Calls<RuntimeMethods, RuntimeMethod, O>;
/** All unary calls of ImageService, as functions that take options `O`. */
export type ImageCalls<O> = Calls<ImageMethods, ImageMethod, O>;

type RequestTypes<S, M extends keyof S> = { [K in M]: MessageFns<Request<S[K]>> };

/** The request message of each unary RuntimeService method. */
export const runtimeRequests: RequestTypes<RuntimeMethods, RuntimeMethod> = {
  version: api.VersionRequest,
  runPodSandbox: api.RunPodSandboxRequest,
  stopPodSandbox: api.StopPodSandboxRequest,
  removePodSandbox: api.RemovePodSandboxRequest,
  podSandboxStatus: api.PodSandboxStatusRequest,
  listPodSandbox: api.ListPodSandboxRequest,
  createContainer: api.CreateContainerRequest,
  startContainer: api.StartContainerRequest,
  stopContainer: api.StopContainerRequest,
  removeContainer: api.RemoveContainerRequest,
  listContainers: api.ListContainersRequest,
  containerStatus: api.ContainerStatusRequest,
  updateContainerResources: api.UpdateContainerResourcesRequest,
  reopenContainerLog: api.ReopenContainerLogRequest,
  execSync: api.ExecSyncRequest,
  exec: api.ExecRequest,
  attach: api.AttachRequest,
  portForward: api.PortForwardRequest,
  containerStats: api.ContainerStatsRequest,
  listContainerStats: api.ListContainerStatsRequest,
  podSandboxStats: api.PodSandboxStatsRequest,
  listPodSandboxStats: api.ListPodSandboxStatsRequest,
  updateRuntimeConfig: api.UpdateRuntimeConfigRequest,
  status: api.StatusRequest,
  checkpointContainer: api.CheckpointContainerRequest,
  listMetricDescriptors: api.ListMetricDescriptorsRequest,
  listPodSandboxMetrics: api.ListPodSandboxMetricsRequest,
  runtimeConfig: api.RuntimeConfigRequest,
  updatePodSandboxResources: api.UpdatePodSandboxResourcesRequest,
};

/** The request message of each ImageService method. */
export const imageRequests: RequestTypes<ImageMethods, ImageMethod> = {
  listImages: api.ListImagesRequest,
  imageStatus: api.ImageStatusRequest,
  pullImage: api.PullImageRequest,
  removeImage: api.RemoveImageRequest,
  imageFsInfo: api.ImageFsInfoRequest,
};

/**
 * Methods that may not be repeated once the runtime could have seen them: a second RunPodSandbox or
 * CreateContainer makes or collides with a second object, a second StartContainer fails, a second ExecSync
 * runs the command again. CRI asks of all the others that a repetition does no harm.
 */
const onceOnly: ReadonlySet<RuntimeMethod | ImageMethod> = new Set<RuntimeMethod>([
  'runPodSandbox',
  'createContainer',
  'startContainer',
  'execSync',
  'exec',
  'attach',
  'portForward',
  'checkpointContainer',
]);

/** May `method` be sent again when it is not known whether the first one arrived? */
export function isRepeatable(method: RuntimeMethod | ImageMethod): boolean {
  return !onceOnly.has(method);
}
