import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { goQuote } from '../../../machines/values/go-quote.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { toldOf } from '../../../machines/status/status-lists.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { ContainerState } from '../../../cri/generated/runtime/v1/api.ts';
import type { FeatureGates } from '../../configure/configuration/feature-gates.ts';
import { endedJustNow, untilQuiet } from '../../host/logs/quiet-log.ts';
import { msFromNs } from '../../runtime/pleg/observed-from-cri.ts';
import type { NodeView } from '../../pods/store/node-view.ts';
import { acceptable } from '../server/acceptable.ts';
import { parseGoQuery } from '../server/go-query.ts';
import { BodyWriter } from './body-writer.ts';
import { LineWriter } from './line-writer.ts';
import { parsePodLogOptions } from './parse-options.ts';
import type { PodLogOptions } from './parse-options.ts';
import { readLogs } from './read-logs.ts';
import { RunningContainers } from './running-containers.ts';
import type { LogRuntime } from './running-containers.ts';
import type { Stamp } from './stamp.ts';

/** Options of {@link addContainerLogsRoutes}. */
export interface ContainerLogsOptions {
  node: Pick<NodeView, 'podNamed'>;
  cri: LogRuntime;
  gates: FeatureGates;
  log: Logger;
  /** Milliseconds since 1970, for `sinceSeconds`. */
  now: () => number;
}

interface LogPath {
  podNamespace?: string;
  podID?: string;
  containerName?: string;
}

/** `GET /containerLogs/{podNamespace}/{podID}/{containerName}`: a container's log, as the kubelet serves it. */
export function addContainerLogsRoutes(app: FastifyInstance, options: ContainerLogsOptions): void {
  const running = new RunningContainers(options.cri, options.log);
  app.get<{ Params: LogPath }>(
    '/containerLogs/:podNamespace/:podID/:containerName',
    { exposeHeadRoute: false, ...acceptable() },
    (request, reply) => answer(request, reply, options, running),
  );
}

async function answer(
  request: FastifyRequest<{ Params: LogPath }>,
  reply: FastifyReply,
  options: ContainerLogsOptions,
  running: RunningContainers,
): Promise<FastifyReply> {
  const { podNamespace = '', podID = '', containerName = '' } = request.params;
  const refuse = (status: number, text: string): FastifyReply =>
    reply.code(status).type('text/plain; charset=utf-8').send(text);
  if (podID === '') return refuse(400, '{"message": "Missing podID."}');
  if (containerName === '') return refuse(400, '{"message": "Missing container name."}');
  if (podNamespace === '') return refuse(400, '{"message": "Missing podNamespace."}');

  const wanted = parsePodLogOptions(parseGoQuery(request.raw.url ?? ''));
  if (wanted === undefined) return refuse(400, '{"message": "Unable to decode query."}');
  if (validatePodLogOptions(wanted).length > 0) return refuse(422, '{"message": "Invalid request."}');

  const pod = options.node.podNamed(podNamespace, podID);
  if (pod === undefined) return refuse(404, `pod ${goQuote(podID)} does not exist`);
  if (!hasContainer(pod, containerName))
    return refuse(404, `container ${goQuote(containerName)} not found in pod ${goQuote(podID)}`);
  const stream = wanted.stream ?? 'All';
  if (stream !== 'All' && !options.gates.enabled('PodLogsQuerySplitStreams')) {
    const cure = 'Please enable PodLogsQuerySplitStreams feature gate in kubelet';
    return refuse(400, `unable to return the given log stream: ${goQuote(stream)}. ${cure}`);
  }

  // From here on the kubelet has announced chunks, and an answer without a content type.
  reply.hijack();
  const response = reply.raw;
  const target = logTarget(pod, containerName, wanted.previous);
  if ('problem' in target) {
    response.writeHead(400);
    response.write(target.problem);
    response.end();
    return reply;
  }
  // The client sees the head at once, even if the first line is long in coming. Without stdout the kubelet waits.
  if (stream !== 'Stderr') response.writeHead(200).flushHeaders();
  const body = new BodyWriter(response);
  try {
    await send(target.containerID, wanted, body, options, running);
  } catch (error) {
    const text = messageOf(error);
    options.log.info({ pod: podID, namespace: podNamespace, container: containerName, reason: text }, 'Log ends early');
    // The head is out, so the text can only go where the log goes; people know it from kubectl.
    if (!response.headersSent) response.writeHead(400);
    await body.write(Buffer.from(text));
  }
  if (!response.headersSent) response.flushHeaders();
  response.end();
  return reply;
}

async function send(
  containerID: string,
  wanted: PodLogOptions,
  body: BodyWriter,
  { cri, log, now }: ContainerLogsOptions,
  running: RunningContainers,
): Promise<void> {
  // Anything but `type://id` is no ID, and the runtime says so.
  const [type = '', id = '', ...more] = containerID.split('://');
  const known = id !== '' && more.length === 0;
  let status;
  try {
    ({ status } = await cri.runtime.containerStatus({ containerId: known ? id : '' }));
  } catch (error) {
    log.debug({ containerID, err: error }, 'Failed to get container status');
    throw new Error(`unable to retrieve container logs for ${known ? `${type}://${id}` : '://'}`);
  }
  if (status === undefined) throw new Error('container status is nil');
  const path = status.logPath;
  // Before the first byte is read: from which line on `tailLines` begins depends on how many there are.
  if (status.state === ContainerState.CONTAINER_EXITED && endedJustNow(msFromNs(status.finishedAt), now()))
    await untilQuiet(path, () => body.closed);

  let badLines = 0;
  let limitLines: number | undefined;
  const tailLines = wanted.tailLines === undefined ? undefined : Number(wanted.tailLines);
  if (!wanted.follow) limitLines = tailLines;
  const lines = new LineWriter({
    stdout: wanted.stream !== 'Stderr',
    stderr: wanted.stream !== 'Stdout',
    timestamps: wanted.timestamps,
    since: since(wanted, now()),
    limitBytes: wanted.limitBytes === undefined ? undefined : Number(wanted.limitBytes),
    limitLines,
    onBadLine(problem) {
      // Not the line itself: it may hold what nobody may read in the agent's own log.
      if (++badLines === 1) log.warn({ path, problem }, 'Failed when parsing line in log file');
    },
  });
  try {
    await readLogs({ path, tailLines, follow: wanted.follow ? { containerID: id, running } : undefined }, lines, body);
  } finally {
    if (badLines > 1) log.warn({ path, lines: badLines }, 'Left out lines of a log file that could not be parsed');
  }
}

function since({ sinceSeconds, sinceTime }: PodLogOptions, nowMs: number): Stamp | undefined {
  if (sinceSeconds === undefined) return sinceTime;
  const milliseconds = nowMs - Number(sinceSeconds) * 1000;
  const seconds = Math.floor(milliseconds / 1000);
  return { seconds, nanos: Math.round((milliseconds - seconds * 1000) * 1e6) };
}

/** Which container's log to read (`containerd://...`), or why there is none, in the kubelet's words. */
type LogTarget = { containerID: string } | { problem: string };

/** Is there a container of that name (init and ephemeral ones, too) in the spec? */
export function hasContainer(pod: Pod, name: string): boolean {
  const { containers, initContainers, ephemeralContainers } = pod.spec ?? { containers: [] };
  return [containers, initContainers, ephemeralContainers].some((list) => list?.some((one) => one.name === name));
}

/** Finds the container ID in the pod's status as `validateContainerLogStatus` does. */
export function logTarget(pod: Pod, container: string, previous: boolean): LogTarget {
  const subject = `container ${goQuote(container)} in pod ${goQuote(pod.metadata?.name ?? '')}`;
  const status = toldOf(pod.status, container);
  if (status === undefined) return { problem: `${subject} is not available` };

  const last = status.lastState?.terminated;
  const lastID = last?.containerID ?? '';
  const { running, terminated, waiting } = status.state ?? {};
  if (previous) {
    if (lastID === '') return { problem: `previous terminated ${subject} not found` };
    return { containerID: lastID };
  }
  if (running != null) return { containerID: status.containerID ?? '' };
  if (terminated != null) {
    // A container whose successor could not even be created has no ID of its own.
    const id = terminated.containerID || lastID;
    return id === '' ? { problem: `${subject} is terminated` } : { containerID: id };
  }
  if (last != null) return lastID === '' ? { problem: `${subject} is terminated` } : { containerID: lastID };
  if (waiting == null) return { problem: `${subject} is waiting to start - no logs yet` };
  switch (waiting.reason) {
    case 'ErrImagePull':
      return { problem: `${subject} is waiting to start: image can't be pulled` };
    case 'ImagePullBackOff':
      return { problem: `${subject} is waiting to start: trying and failing to pull image` };
    default:
      return { problem: `${subject} is waiting to start: ${waiting.reason ?? ''}` };
  }
}

const streams = ['All', 'Stdout', 'Stderr'];

/** `ValidatePodLogOptions` of the v1 API; what is wrong, in words, empty when nothing is. */
export function validatePodLogOptions(options: PodLogOptions): string[] {
  const problems: string[] = [];
  const { tailLines, limitBytes, sinceSeconds, sinceTime, stream } = options;
  if (tailLines !== undefined && tailLines < 0n) problems.push('tailLines: must be greater than or equal to 0');
  if (limitBytes !== undefined && limitBytes < 1n) problems.push('limitBytes: must be greater than 0');
  if (sinceSeconds !== undefined && sinceTime !== undefined)
    problems.push('at most one of `sinceTime` or `sinceSeconds` may be specified');
  else if (sinceSeconds !== undefined && sinceSeconds < 1n) problems.push('sinceSeconds: must be greater than 0');
  if (stream !== undefined) {
    if (!streams.includes(stream)) problems.push(`stream: unsupported value, supported are ${streams.join(', ')}`);
    if (stream !== 'All' && tailLines !== undefined)
      problems.push('`tailLines` and specific `stream` are mutually exclusive for now');
  }
  return problems;
}
