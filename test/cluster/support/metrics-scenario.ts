import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENT, runs, shell } from '../../containerd/agent/support/test-pod.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { nodeClient } from '../kubelet-api/support/node-client.ts';
import { AdminApi } from './admin-api.ts';
import type { ClusterNode } from './cluster-node.ts';
import type { ControlPlane } from './control-plane.ts';
import { apiPod } from './manifests.ts';
import { isReadyPod } from './seen-pods.ts';
import type { Space } from './space.ts';

/** Pages of a kubelet that hold metrics. */
export const METRIC_PAGES = [
  '/metrics',
  '/metrics/cadvisor',
  '/metrics/resource',
  '/metrics/probes',
  '/metrics/slis',
] as const;
export type MetricPage = (typeof METRIC_PAGES)[number];

/** Text of each page. */
export type Scrape = Record<MetricPage, string>;

/** Name of the file in which tools keep a page. */
export function pageFile(page: MetricPage): string {
  return `${page.slice(1).replace('/', '-')}.txt`;
}

/** Further fields of the configuration that {@link furnishNode} wants. */
export const SCENARIO_CONFIG = {
  enforceNodeAllocatable: [],
  rotateCertificates: true,
  serverTLSBootstrap: true,
} as const;

/** Puts pods of many kinds on a node and has all that happen of which metrics tell. Takes about a minute. */
export async function furnishNode(plane: ControlPlane, node: ClusterNode, space: Space): Promise<void> {
  await space.create({ kind: 'ConfigMap', metadata: { name: 'settings' }, data: { color: 'red' } });
  await space.create({ kind: 'Secret', metadata: { name: 'login' }, stringData: { user: 'me' } });
  const on = { nodeName: node.name, terminationGracePeriodSeconds: 1 };
  const exec = (command: string) => ({ exec: { command: ['sh', '-c', command] }, periodSeconds: 1, ...PATIENT });
  const work = apiPod(
    'work',
    [
      {
        ...runs('main', {
          startupProbe: exec('true'),
          readinessProbe: exec('true'),
          livenessProbe: { ...exec('false'), failureThreshold: 1000 },
          lifecycle: { postStart: { exec: { command: ['true'] } } },
          resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '500m', memory: '64Mi' } },
          volumeMounts: ['cm', 'sec', 'all', 'empty', 'down', 'host'].map((name) => ({
            name,
            mountPath: `/v/${name}`,
          })),
        }),
      },
    ],
    {
      ...on,
      automountServiceAccountToken: true,
      initContainers: [shell('first', 'true')],
      volumes: [
        { name: 'cm', configMap: { name: 'settings' } },
        { name: 'sec', secret: { secretName: 'login' } },
        { name: 'all', projected: { sources: [{ configMap: { name: 'settings' } }] } },
        { name: 'empty', emptyDir: {} },
        { name: 'down', downwardAPI: { items: [{ path: 'me', fieldRef: { fieldPath: 'metadata.name' } }] } },
        { name: 'host', hostPath: { path: '/tmp', type: 'Directory' } },
      ],
    },
  );
  const stuck = { volumes: [{ name: 'cm', configMap: { name: 'no-such' } }] };
  const large = { resources: { requests: { cpu: '1000' } } };
  const pods = [
    work,
    apiPod('crash', [shell('c', 'exit 1')], on),
    apiPod('pull', [{ ...runs('c'), image: 'registry.invalid/none:1' }], on),
    apiPod('done', [shell('c', 'true')], { ...on, restartPolicy: 'Never' }),
    apiPod('gone', [runs('c')], on),
    apiPod('stuck', [runs('c', { volumeMounts: [{ name: 'cm', mountPath: '/v' }] })], { ...on, ...stuck }),
    apiPod('large', [runs('c', large)], on),
  ];
  await node.writeManifest('static.json', {
    ...apiPod('static', [runs('c')], { terminationGracePeriodSeconds: 1 }),
    metadata: { name: 'static', namespace: space.name },
  });
  for (const pod of pods) await space.create(pod);
  for (const name of ['work', 'gone', `static-${node.name}`]) await space.waitPod(name, 'ready', isReadyPod);
  const gone = await space.waitPod('gone', 'ready', isReadyPod);
  await space.remove('Pod', 'gone');
  await space.waitGone(gone);
  await space.waitPod('done', 'done', (pod) => pod.status?.phase === 'Succeeded');
  await space.waitPod('large', 'rejected', (pod) => pod.status?.phase === 'Failed');
  const backOff = (reason: string) => (pod: { status?: { containerStatuses?: readonly unknown[] } }) =>
    JSON.stringify(pod.status?.containerStatuses ?? []).includes(reason);
  await space.waitPod('pull', 'ImagePullBackOff', backOff('ImagePullBackOff'));
  await space.waitPod('crash', 'CrashLoopBackOff', backOff('CrashLoopBackOff'));
  await space.kubectl('exec', 'work', '--', 'true');
  await space.kubectl('logs', 'work');
  await askWithToken(plane, node);
  await askAs(plane, node, ['/healthz', '/pods', '/stats/summary', '/configz', '/runningpods/']);
}

/** All pages, once the slow ones have something to tell. */
export async function scrapeNode(plane: ControlPlane, node: ClusterNode): Promise<Scrape> {
  await waitFor('stats of containers', async () => {
    const [text = ''] = await askAs(plane, node, ['/metrics/resource']);
    return /^container_cpu_usage_seconds_total\{.*pod="work"/m.test(text) ? true : undefined;
  });
  await sleep(5_000);
  const texts = await askAs(plane, node, METRIC_PAGES);
  return Object.fromEntries(METRIC_PAGES.map((page, i) => [page, texts[i] ?? ''])) as Scrape;
}

async function askAs(plane: ControlPlane, node: ClusterNode, paths: readonly string[]): Promise<string[]> {
  const { cert, key, ca } = await nodeClient(plane);
  const client = new AdminApi(node.address, node.ports.port, ca, { pair: { cert, key } });
  try {
    const out: string[] = [];
    for (const path of paths) out.push(await client.text(path));
    return out;
  } finally {
    client.close();
  }
}

/** The node looks tokens up with TokenReview: a good one twice, a bad one once. */
async function askWithToken(plane: ControlPlane, node: ClusterNode): Promise<void> {
  const account = '/api/v1/namespaces/default/serviceaccounts/default';
  const group = 'rbac.authorization.k8s.io';
  await plane.api.post(`/apis/${group}/v1/clusterrolebindings`, {
    metadata: { name: `scraper-${node.name}` },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
  });
  const wish = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
  const { status } = await plane.api.post<{ status: { token: string } }>(`${account}/token`, wish);
  for (const token of [status.token, status.token, 'no.such.token']) {
    const client = new AdminApi(node.address, node.ports.port, plane.pki.ca.cert, { token });
    await client.text('/metrics/slis').catch(() => undefined);
    client.close();
  }
}
