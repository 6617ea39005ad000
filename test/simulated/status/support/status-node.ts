import type { TestContext } from 'node:test';
import pino from 'pino';
import { createApiClient } from '../../../../actors/cluster/api/create-api-client.ts';
import type { ApiClient } from '../../../../actors/cluster/api/api-client.ts';
import type { PodReport } from '../../../../actors/pods/shard/shard-protocol.ts';
import { StatusManager } from '../../../../actors/cluster/status/status-manager.ts';
import type { ContainerStatus, Pod, PodStatus } from '../../../../machines/protocol/api-types.ts';
import type { PodMemory } from '../../../../machines/protocol/memory.ts';
import { startFakeApiServer } from '../../api/support/fake-api-server.ts';
import type { FakeApiServer } from '../../api/support/fake-api-server.ts';
import type { StoredObject } from '../../api/support/stored-object.ts';

/** Collection of pods of the core API. */
export const PODS = { group: '', version: 'v1', resource: 'pods', namespace: 'n' } as const;
const COLLECTION = '/v1/pods';

/** A fake API server, a client, a status manager, and a watch between them that can be slow or absent. */
export interface StatusNode {
  server: FakeApiServer;
  api: ApiClient;
  manager: StatusManager;
  errors: string[];
  /** Delay of the watch in ms; null: no events arrive. */
  watch: { delayMs: number | null };
  /** Puts a pod into the API. */
  addPod(name: string, changes?: { spec?: object; metadata?: object; status?: object }): Pod;
  stored(name: string): Pod | undefined;
  report(pod: Pod, state: string, status: PodStatus, source?: 'api' | 'file'): void;
  /** All status patches sent for a pod, oldest first. */
  patches(name: string): PodStatus[];
  deletes(name: string): unknown[];
  /** What a list after an interruption tells. */
  relist(): void;
}

/** Starts a {@link StatusNode}; everything ends with the test. */
export async function startStatusNode(t: TestContext): Promise<StatusNode> {
  const server = await startFakeApiServer();
  const log = pino({ level: 'silent' });
  const api = createApiClient({ kubeconfig: server.kubeconfigPath, userAgent: 'test', log });
  const errors: string[] = [];
  const manager = new StatusManager({
    api,
    nodeName: 'node1',
    log,
    now: Date.now,
    onError: (error) => errors.push(error.message),
  });
  const watch: { delayMs: number | null } = { delayMs: 0 };
  const deliver = (type: string, object: StoredObject): void => {
    if (type === 'DELETED') manager.apiPodGone(object.metadata.uid ?? '');
    else manager.apiPod(asPod(object));
  };
  const unlisten = server.store.listen(({ collection, type, object }) => {
    if (collection !== COLLECTION || watch.delayMs === null) return;
    if (watch.delayMs === 0) deliver(type, object);
    else setTimeout(() => deliver(type, object), watch.delayMs).unref();
  });
  t.after(async () => {
    unlisten();
    await manager.stop();
    api.close();
    await server.close();
  });
  return {
    server,
    api,
    manager,
    errors,
    watch,
    addPod: (name, { spec, metadata, status } = {}) =>
      asPod(
        server.put(PODS, {
          metadata: { name, namespace: 'n', ...metadata },
          spec: { nodeName: 'node1', restartPolicy: 'Never', containers: [{ name: 'a' }], ...spec },
          status: { phase: 'Pending', qosClass: 'BestEffort', ...status },
        } as { metadata: object }),
      ),
    stored: (name) => {
      const found = server.get(PODS, name);
      return found && asPod(found);
    },
    report: (pod, state, status, source = 'api') =>
      manager.report({ pod, source, report: reportOf(pod.metadata?.uid ?? '', state, status) }),
    patches: (name) =>
      server
        .requestsOf({ verb: 'patch', resource: 'pods', subresource: 'status', name })
        .map(({ body }) => (body as { status: PodStatus }).status),
    deletes: (name) => server.requestsOf({ verb: 'delete', resource: 'pods', name }).map(({ body }) => body),
    relist: () => manager.setApiPods(server.store.list({ collection: COLLECTION }).map(asPod)),
  };
}

/** A report as a shard sends it. */
export function reportOf(uid: string, state: string, status: PodStatus): PodReport {
  return { uid, status, state, why: '', memory: {} as PodMemory };
}

function asPod(object: StoredObject): Pod {
  return object as unknown as Pod;
}

const T = '2026-01-01T00:00:00Z';

/** Statuses of a pod with one container `a` in the moments of its life. */
export const statuses = {
  creating: of('Pending', 'False', { waiting: { reason: 'ContainerCreating' } }),
  failing: of('Pending', 'False', { waiting: { reason: 'ErrImagePull', message: 'no' } }),
  running: of('Running', 'False', { running: { startedAt: T } }),
  ready: of('Running', 'True', { running: { startedAt: T } }),
  ended: of('Running', 'False', { terminated: { exitCode: 3, startedAt: T, finishedAt: T } }),
  failed: of('Failed', 'False', { terminated: { exitCode: 3, startedAt: T, finishedAt: T } }),
};

function of(phase: string, ready: string, state: ContainerStatus['state']): PodStatus {
  return {
    phase,
    startTime: T,
    qosClass: 'BestEffort',
    conditions: [
      { type: 'Ready', status: ready, lastTransitionTime: T },
      { type: 'PodScheduled', status: 'True', lastTransitionTime: T },
    ],
    containerStatuses: [
      { name: 'a', state, lastState: {}, ready: ready === 'True', restartCount: 0, image: 'i', imageID: '' },
    ],
  };
}
