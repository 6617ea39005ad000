import type { FastifyRequest } from 'fastify';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { isCriError } from '../../../cri/client/cri-error.ts';
import { goQuote } from '../../../machines/values/go-quote.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { NodeView } from '../../pods/store/node-view.ts';
import type { StreamBridges } from './bridges.ts';
import { findRunningPod, findSandboxId } from '../server/find-container.ts';
import { parseGoQuery } from '../server/go-query.ts';
import { isWebSocket, offeredProtocols, PORT_FORWARD_TUNNEL, REMOTE_COMMAND_V5 } from './protocols.ts';
import { Refusal } from './refusal.ts';
import type { StreamPlan } from './serve-stream.ts';
import { portForwardPorts, remoteCommandOptions } from './stream-options.ts';
import type { Parsed, RemoteCommandOptions } from './stream-options.ts';

/** The part of a `CriClient` that streams need. */
export interface StreamRuntime {
  readonly runtime: Pick<
    CriClient['runtime'],
    'listContainers' | 'listPodSandbox' | 'exec' | 'attach' | 'portForward' | 'execSync'
  >;
}

/** What the requests for streams need. */
export interface StreamSources {
  node: Pick<NodeView, 'podNamed'>;
  cri: StreamRuntime;
  bridges: StreamBridges;
}

/** Parameters of the paths. */
export interface StreamParams {
  podNamespace: string;
  podID: string;
  uid?: string;
  containerName: string;
}

/** Turns a request into a stream of the runtime, or refuses it with a {@link Refusal} or `CriError`. */
export type StreamRequest = (
  sources: StreamSources,
  request: FastifyRequest,
  params: StreamParams,
  signal: AbortSignal | undefined,
) => Promise<StreamPlan>;

/** `/exec`: the UID of the path plays no part, as in kubelet. */
export const execRequest: StreamRequest = async (sources, request, params, signal) => {
  const query = parseGoQuery(request.url);
  const options = accepted(remoteCommandOptions(query));
  podOf(sources, params);
  const containerId = await runningContainer(sources.cri, params, signal);
  const cmd = [...(query.get('command') ?? [])];
  const { url } = await sources.cri.runtime.exec({ containerId, cmd, ...options }, { signal });
  return remoteCommandPlan(sources, request, url, options);
};

/** `/attach`: whether there is a terminal is the container's matter, whatever the query says. */
export const attachRequest: StreamRequest = async (sources, request, params, signal) => {
  const asked = accepted(remoteCommandOptions(parseGoQuery(request.url)));
  const pod = podOf(sources, params);
  const fullName = `${params.podID}_${params.podNamespace}`;
  const missing = new Refusal(500, `container ${params.containerName} not found in pod ${fullName}`);
  const running = await findRunningPod(sources.cri, params.podNamespace, params.podID, signal);
  const container = running?.containers.get(params.containerName);
  if (container === undefined) throw missing;
  if (params.uid !== undefined && pod.metadata?.uid !== params.uid) throw new Refusal(500, `pod ${fullName} not found`);
  const spec = containerSpec(pod, params.containerName);
  if (spec === undefined) throw missing;
  const options = { ...asked, tty: spec.tty ?? false };
  const { url } = await sources.cri.runtime.attach({ containerId: container.id, ...options }, { signal });
  return remoteCommandPlan(sources, request, url, options);
};

/** `/portForward`. */
export const portForwardRequest: StreamRequest = async (sources, request, params, signal) => {
  const tunnel = isWebSocket(request.headers) && offeredProtocols(request.headers).includes(PORT_FORWARD_TUNNEL);
  const spdy = tunnel || !isWebSocket(request.headers);
  const port = spdy ? [] : accepted(portForwardPorts(parseGoQuery(request.url)));
  const pod = podOf(sources, params);
  const uid = pod.metadata?.uid ?? '';
  if (params.uid !== undefined && uid !== params.uid) throw new Refusal(404, 'pod not found');
  const fullName = `${params.podID}_${params.podNamespace}`;
  const running = await findRunningPod(sources.cri, params.podNamespace, params.podID, signal);
  if (running === undefined) throw new Refusal(500, `pod not found (${goQuote(fullName)})`);
  const podSandboxId = await sandboxOf(sources.cri, uid, `${fullName}(${uid})`, signal);
  const { url } = await sources.cri.runtime.portForward({ podSandboxId, port }, { signal });
  return tunnel ? { address: url, bridge: (options) => sources.bridges.portForward(options) } : { address: url };
};

/**
 * Finds the pod of the path.
 * @throws Refusal 404
 */
export function podOf({ node }: Pick<StreamSources, 'node'>, { podNamespace, podID }: StreamParams): Pod {
  const pod = node.podNamed(podNamespace, podID);
  if (pod === undefined) throw new Refusal(404, 'pod does not exist');
  return pod;
}

/**
 * Id of the running container of the path.
 * @throws Refusal 500, as kubelet answers; CriError
 */
export async function runningContainer(
  cri: StreamRuntime,
  { podNamespace, podID, containerName }: StreamParams,
  signal: AbortSignal | undefined,
): Promise<string> {
  const pod = await findRunningPod(cri, podNamespace, podID, signal);
  const container = pod?.containers.get(containerName);
  if (container === undefined) throw new Refusal(500, `container not found (${goQuote(containerName)})`);
  return container.id;
}

async function sandboxOf(
  cri: StreamRuntime,
  uid: string,
  description: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const text = `failed to find sandboxID for pod ${description}`;
  let id: string | undefined;
  try {
    id = await findSandboxId(cri, uid, signal);
  } catch (error) {
    if (isCriError(error)) throw new Refusal(500, `${text}: ${error.message}`, { cause: error });
    throw error;
  }
  if (id === undefined) throw new Refusal(500, text);
  return id;
}

function accepted<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw new Refusal(400, parsed.error);
  return parsed.value;
}

function containerSpec(pod: Pod, name: string): { tty?: boolean } | undefined {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec ?? {};
  return [...containers, ...initContainers, ...ephemeralContainers].find((container) => container.name === name);
}

/** A client prefers the newest protocol that it offers, and we can speak v5 whether the runtime does or not. */
function remoteCommandPlan(
  { bridges }: StreamSources,
  { headers }: FastifyRequest,
  address: string,
  options: RemoteCommandOptions,
): StreamPlan {
  if (!isWebSocket(headers) || !offeredProtocols(headers).includes(REMOTE_COMMAND_V5)) return { address };
  const protocol = REMOTE_COMMAND_V5;
  return { address, bridge: (common) => bridges.remoteCommand({ ...common, protocol, options }) };
}
