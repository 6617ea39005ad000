import type { FastifyInstance } from 'fastify';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { acceptable } from './acceptable.ts';
import { checkpointName, isInt64 } from './checkpoint-name.ts';
import { findRunningPod } from './find-container.ts';
import { goJson, restfulError } from './go-answers.ts';
import { parseGoQuery } from './go-query.ts';
import type { NodeView } from '../../pods/store/node-view.ts';

/** What checkpoints are made with. */
export interface CheckpointOptions {
  node: NodeView;
  cri: CriClient;
  /** `--root-dir`; checkpoints go to `checkpoints` below it. */
  rootDir: string;
  /** `runtimeRequestTimeout`, ms: a shorter time that a request asks for is raised to it. */
  timeoutMs: number;
  /** Ms since the epoch. */
  now: () => number;
}

interface Params {
  podNamespace: string;
  podID: string;
  containerName: string;
}

/** Adds `POST /checkpoint/{podNamespace}/{podID}/{containerName}` (KEP-2008): writes a container's state to a file. */
export function addCheckpointRoutes(app: FastifyInstance, options: CheckpointOptions): void {
  const { node, cri } = options;
  const url = '/checkpoint/:podNamespace/:podID/:containerName';
  app.post<{ Params: Params }>(url, acceptable('application/json'), async (request, reply) => {
    const { podNamespace, podID, containerName } = request.params;
    const pod = node.podNamed(podNamespace, podID);
    if (pod === undefined) return restfulError(reply, 404, 'pod does not exist');
    const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec ?? {};
    if (![...containers, ...initContainers, ...ephemeralContainers].some(({ name }) => name === containerName))
      return restfulError(reply, 404, `container ${containerName} does not exist`);
    const asked = parseGoQuery(request.url).get('timeout')?.at(-1);
    if (asked !== undefined && !isInt64(asked))
      return restfulError(reply, 404, 'cannot parse value of timeout parameter');
    const path = `${podNamespace}/${podID}/${containerName}`;
    try {
      const location = await checkpoint(options, request.params, Number(asked ?? 0));
      return goJson(reply, { items: [location] });
    } catch (error) {
      const text = messageOf(error);
      return restfulError(reply, 500, `checkpointing of ${path} failed (${text})`);
    }
  });

  async function checkpoint(
    { rootDir, timeoutMs, now }: CheckpointOptions,
    { podNamespace, podID, containerName }: Params,
    askedSeconds: number,
  ): Promise<string> {
    const id = (await findRunningPod(cri, podNamespace, podID))?.containers.get(containerName)?.id;
    if (id === undefined) throw new Error(`container ${containerName} not found`);
    if (askedSeconds < 0) throw new Error('CheckpointContainer requires the timeout value to be > 0');
    const folder = join(rootDir, 'checkpoints');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const location = join(folder, checkpointName(podNamespace, podID, containerName, now()));
    const timeout = Math.max(askedSeconds, Math.floor(timeoutMs / 1000));
    await cri.runtime.checkpointContainer(
      { containerId: id, location, timeout: String(timeout) },
      { timeoutMs: timeout * 1000 },
    );
    return location;
  }
}
