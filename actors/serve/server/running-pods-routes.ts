import type { FastifyInstance } from 'fastify';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { ContainerState, PodSandboxState } from '../../../cri/generated/runtime/v1/api.ts';
import { LABEL } from '../../../machines/protocol/runtime-labels.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { acceptable } from './acceptable.ts';
import { restfulError } from './go-answers.ts';
import { podList } from './pod-list.ts';

interface RunningPod {
  metadata: { name: string; namespace: string; uid: string };
  spec: { containers: { name: string; image: string; resources: object }[] };
  status: object;
  createdAt: bigint;
}

/** Adds `/runningpods/`: what runs on this node as the runtime tells it, youngest first, with names and images only. */
export function addRunningPodsRoutes(app: FastifyInstance, cri: CriClient): void {
  for (const path of ['/runningpods', '/runningpods/']) {
    app.get(path, acceptable('application/json'), async (_request, reply) => {
      try {
        const items = (await runningPods(cri)).map(({ createdAt: _createdAt, ...pod }) => pod);
        return podList(reply, items);
      } catch (error) {
        return restfulError(reply, 500, messageOf(error));
      }
    });
  }
}

async function runningPods({ runtime }: CriClient): Promise<RunningPod[]> {
  const [sandboxes, containers] = await Promise.all([
    runtime.listPodSandbox({ filter: { state: { state: PodSandboxState.SANDBOX_READY } } }),
    runtime.listContainers({ filter: { state: { state: ContainerState.CONTAINER_RUNNING } } }),
  ]);
  const pods = new Map<string, RunningPod>();
  const podOf = (uid: string, name: string, namespace: string): RunningPod => {
    const pod = pods.get(uid) ?? {
      metadata: { name, namespace, uid },
      spec: { containers: [] },
      status: {},
      createdAt: 0n,
    };
    pods.set(uid, pod);
    return pod;
  };
  for (const { metadata, createdAt, labels } of sandboxes.items) {
    // Only what has kubelet's labels is a pod of this node.
    if (metadata === undefined || labels[LABEL.podUid] === undefined) continue;
    podOf(metadata.uid, metadata.name, metadata.namespace).createdAt = BigInt(createdAt);
  }
  for (const { labels, metadata, image } of containers.containers) {
    const uid = labels[LABEL.podUid];
    if (uid === undefined) continue;
    const pod = podOf(uid, labels[LABEL.podName] ?? '', labels[LABEL.podNamespace] ?? '');
    pod.spec.containers.push({ name: metadata?.name ?? '', image: image?.image ?? '', resources: {} });
  }
  return [...pods.values()].sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0));
}
