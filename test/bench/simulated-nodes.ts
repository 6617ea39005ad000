import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { StandInApi } from '../tools/stand-in-api.ts';
import type { Stored } from '../tools/stand-in-api.ts';
import { standInFleet } from '../tools/stand-in-fleet.ts';

/**
 * What simulated nodes cost this process: memory of a node and of a pod (heap after a full collection, and resident), and CPU when nothing
 * changes. The API server is a stand-in in the same process, which keeps its objects outside the heap. Prints JSON. `node test/bench/simulated-nodes.ts [nodes] [pods a node]`
 */
const [nodes = 100, podsEach = 10] = process.argv.slice(2).map(Number);

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

const api = new StandInApi();
const heap = (): number => {
  gc();
  gc();
  return process.memoryUsage().heapUsed;
};
const before = { heap: heap(), rss: process.memoryUsage.rss() };
const { fleet, remove } = standInFleet({ api, count: nodes });
await fleet.start();
await until(() => fleet.nodes.every(({ parts }) => parts?.cluster?.node.node() != null));
await sleep(3_000);
const empty = { heap: heap(), rss: process.memoryUsage.rss(), cpu: await idleCpu() };

const began = performance.now();
const cpu = process.cpuUsage();
for (const [i, { name }] of fleet.nodes.entries())
  for (let p = 0; p < podsEach; p++) api.put('pods', podOf(`pod-${i}-${p}`, name));
await until(() => running() === nodes * podsEach);
const seconds = (performance.now() - began) / 1000;
const used = process.cpuUsage(cpu);
await sleep(5_000);
const full = { heap: heap(), rss: process.memoryUsage.rss(), cpu: await idleCpu() };
const pods = nodes * podsEach;
const KIB = 1024;
process.stdout.write(
  `${JSON.stringify(
    {
      nodes,
      pods,
      heapKiBPerNode: Math.round((empty.heap - before.heap) / nodes / KIB),
      residentKiBPerNode: Math.round((empty.rss - before.rss) / nodes / KIB),
      heapKiBPerPod: Math.round(((full.heap - empty.heap) / pods / KIB) * 10) / 10,
      residentMiB: Math.round(full.rss / KIB / KIB),
      idleMsPerNodeSecond: { empty: empty.cpu, withPods: full.cpu },
      cpuMsPerPodStart: Math.round((used.user + used.system) / 10 / pods) / 100,
      podsRunningPerSecond: Math.round(pods / seconds),
    },
    null,
    1,
  )}\n`,
);
await fleet.stop(false);
remove();
process.exit(0);

/** CPU that this process takes while nothing changes, ms a second and node. */
async function idleCpu(): Promise<number> {
  const from = process.cpuUsage();
  const at = performance.now();
  await sleep(20_000);
  const { user, system } = process.cpuUsage(from);
  return Math.round(((user + system) / 1000 / ((performance.now() - at) / 1000) / nodes) * 1000) / 1000;
}

function running(): number {
  return fleet.nodes.reduce(
    (sum, { parts }) => sum + (parts?.store.list().filter(({ status }) => status?.phase === 'Running').length ?? 0),
    0,
  );
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await sleep(200);
}

function podOf(name: string, nodeName: string): Stored {
  const mount = {
    name: 'kube-api-access-x',
    mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
    readOnly: true,
  };
  return {
    metadata: { name, namespace: 'default', labels: { app: 'web', 'pod-template-hash': '5b689594f9' } },
    spec: {
      nodeName,
      serviceAccountName: 'default',
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      enableServiceLinks: false,
      securityContext: {},
      schedulerName: 'default-scheduler',
      tolerations: ['not-ready', 'unreachable'].map((key) => ({
        ...{ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      })),
      containers: [
        {
          ...{ name: 'c', image: 'nginx:1', imagePullPolicy: 'IfNotPresent', volumeMounts: [mount] },
          ...{ terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
          ports: [{ containerPort: 80, protocol: 'TCP' }],
          resources: { requests: { cpu: '100m', memory: '64Mi' } },
          readinessProbe: {
            ...{ httpGet: { path: '/ready', port: 80, scheme: 'HTTP' }, periodSeconds: 10 },
            ...{ timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 },
          },
        },
      ],
      volumes: [{ name: mount.name, emptyDir: {} }],
    },
    status: { phase: 'Pending', qosClass: 'Burstable' },
  };
}
