import type { V1Deployment, V1Node, V1Pod } from '@kubernetes/client-node';
import type { ApiClient, ApiResource } from '../../actors/cluster/api/api-client.ts';

const CORE = { group: '', version: 'v1' } as const;
const NODES: ApiResource = { ...CORE, resource: 'nodes' };
const PODS: ApiResource = { ...CORE, resource: 'pods', namespace: 'default' };
const DEPLOYMENTS: ApiResource = { group: 'apps', version: 'v1', resource: 'deployments', namespace: 'default' };

/** Name of the deployment whose pods the nodes run: not one that its user would think of. */
export const WORK = 'nodes-demo';

/** How many objects are as they should be. */
export interface Count {
  all: number;
  ready: number;
}

/** Makes the deployment: a web server that is asked whether it is ready. */
export async function createWork(api: ApiClient, replicas: number): Promise<void> {
  const labels = { app: WORK };
  const readinessProbe = { httpGet: { path: '/', port: 80 }, periodSeconds: 5 };
  const containers = [{ name: 'web', image: 'example.com/web:1', ports: [{ containerPort: 80 }], readinessProbe }];
  const body: V1Deployment = {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: WORK } },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
  await api.request({ method: 'POST', on: DEPLOYMENTS, body });
}

/** Has the deployment and its pods removed. */
export async function removeWork(api: ApiClient): Promise<void> {
  await api.request({ method: 'DELETE', on: DEPLOYMENTS, name: WORK, query: { propagationPolicy: 'Background' } });
}

/** Nodes, and those that are Ready and take pods. */
export async function countNodes(api: ApiClient): Promise<Count> {
  const { items } = await api.request<{ items: V1Node[] }>({ method: 'GET', on: NODES });
  const ready = items.filter(
    ({ spec, status }) =>
      isReady(status?.conditions) && (spec?.taints ?? []).every(({ key }) => !/not-ready/.test(key)),
  );
  return { all: items.length, ready: ready.length };
}

/** Pods of the deployment, as it counts them itself: a list of thousands would keep the API server busy. */
export async function countPods(api: ApiClient): Promise<Count> {
  const { status } = await api.request<V1Deployment>({ method: 'GET', on: DEPLOYMENTS, name: WORK });
  return { all: status?.replicas ?? 0, ready: status?.readyReplicas ?? 0 };
}

/** Name of one of its pods; undefined when none is left. */
export async function onePod(api: ApiClient): Promise<string | undefined> {
  const query = { labelSelector: `app=${WORK}`, limit: '1' };
  const { items } = await api.request<{ items: V1Pod[] }>({ method: 'GET', on: PODS, query });
  return items[0]?.metadata?.name;
}

function isReady(conditions: readonly { type: string; status: string }[] = []): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
