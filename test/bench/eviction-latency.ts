/**
 * How long after all pods' memory fell below its threshold the one that takes it is told to end: kubelet as it comes, kubelet with the kernel's
 * notifications (`kernelMemcgNotification`, cgroup v1), and actorlet, one after the other on the same containerd and control plane.
 *   bin/bench eviction-latency [--trials 5] [--mib-per-second 128]
 * The memory is that of the node's pods alone (`allocatableMemory.available`), so that the machine has enough. Judged from outside: the cgroup's own
 * count, and the end of the container's process. Prints one JSON object, ms; compare within one run only. Needs root.
 */
import { existsSync, readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { RuntimeServiceService } from '../../cri/generated/runtime/v1/api.ts';
import { BUSYBOX_IMAGE } from '../../cri/private-containerd/own-images.ts';
import type { Node, Pod } from '../cluster/support/api-objects.ts';
import { ClusterNode } from '../cluster/support/cluster-node.ts';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import { withContainerd } from '../containerd/support/with-containerd.ts';
import type { TestContainerd } from '../containerd/support/with-containerd.ts';
import { waitFor } from '../tools/wait-for.ts';
import { now, quantiles, ratio } from './figures.ts';

const MIB = 2 ** 20;
/** What all pods may use, and what of it must stay free, MiB. */
const FOR_PODS = 4096;
const KEPT = 3328;
const PODS = '/api/v1/namespaces/default/pods';
const { values } = parseArgs({
  options: { trials: { type: 'string', default: '5' }, 'mib-per-second': { type: 'string', default: '128' } },
});
const trials = Number(values.trials);
/** A step of the pod that takes memory: 8 MiB, then a pause. */
const PAUSE = (8 / Number(values['mib-per-second'])).toFixed(3);
/** It takes memory when it is told to, so that it can be found before. */
const TAKER = `trap 'exit 143' TERM; while [ ! -e /data/go ]; do sleep 0.05; done; while true; do dd if=/dev/zero bs=1048576 count=8 2>/dev/null >> /data/file; sleep ${PAUSE}; done`;

const WAYS = [
  { name: 'kubelet', agent: 'kubelet', config: {} },
  { name: 'kubelet, kernelMemcgNotification', agent: 'kubelet', config: { kernelMemcgNotification: true } },
  { name: 'actorlet', agent: 'actorlet', config: {} },
] as const;

/** One pod that takes memory; how long after the threshold its process was gone, or that the kernel ended it. */
async function trial(plane: ControlPlane, node: ClusterNode, name: string, offset: number): Promise<number | 'OOM'> {
  await waitFor('the node to be without pressure', async () => {
    const object = await plane.api.get<Node>(`/api/v1/nodes/${node.name}`);
    const pressure = object?.status?.conditions?.find(({ type }) => type === 'MemoryPressure')?.status;
    return pressure === 'False' ? true : undefined;
  });
  await plane.api.post(PODS, {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
    spec: {
      ...{ nodeName: node.name, restartPolicy: 'Never', automountServiceAccountToken: false },
      tolerations: [{ operator: 'Exists' }],
      volumes: [{ name: 'data', emptyDir: { medium: 'Memory' } }],
      containers: [
        {
          ...{ name: 'c', image: BUSYBOX_IMAGE, command: ['sh', '-c', TAKER] },
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
    },
  });
  const pod = (): Promise<Pod | undefined> => plane.api.get<Pod>(`${PODS}/${name}`);
  const running = await waitFor(`${name} to run`, async () => {
    const object = await pod();
    return object?.status?.phase === 'Running' ? object : undefined;
  });
  const containerId = running.status?.containerStatuses?.[0]?.containerID?.replace('containerd://', '') ?? '';
  const { info } = await node.containerd.cri.call(RuntimeServiceService.containerStatus, {
    containerId,
    verbose: true,
  });
  const { pid } = JSON.parse(info['info'] ?? '{}') as { pid: number };
  // It has been measured, and the fall begins at another moment of the looks each time.
  await sleep(12_000 + offset);
  await node.containerd.cri.call(RuntimeServiceService.execSync, {
    containerId,
    cmd: ['touch', '/data/go'],
    timeout: '5',
  });
  const met = (FOR_PODS - KEPT) * MIB;
  let crossedAt = 0;
  const until = now() + 60_000;
  while (existsSync(`/proc/${pid}`) && now() < until) {
    if (crossedAt === 0 && memoryOf(node) > met) crossedAt = now();
    await sleep(2);
  }
  const took = now() - crossedAt;
  const { status } = await waitFor(`${name} to fail`, async () => {
    const object = await pod();
    return object?.status?.phase === 'Failed' ? object : undefined;
  });
  await plane.api.delete(`${PODS}/${name}?gracePeriodSeconds=0`);
  await waitFor(`${name} to go`, () =>
    pod().then(
      () => undefined,
      (error: unknown) => (/ 404 /.test(String(error)) ? true : undefined),
    ),
  );
  return status?.reason === 'Evicted' ? Math.round(took) : 'OOM';
}

/** What the node's pods use, bytes: nearly all is shared memory here. */
function memoryOf(node: ClusterNode): number {
  const of = (file: string): string => readFileSync(file, 'utf8');
  const v1 = `/sys/fs/cgroup/memory${node.cgroupRoot}/kubepods/memory.usage_in_bytes`;
  return Number(of(existsSync(v1) ? v1 : `/sys/fs/cgroup${node.cgroupRoot}/kubepods/memory.current`));
}

async function measure(plane: ControlPlane, containerd: TestContainerd, way: (typeof WAYS)[number]) {
  const node = await ClusterNode.start(plane, {
    ...{ name: `latency-${WAYS.indexOf(way)}`, agent: way.agent, containerd },
    config: {
      ...{ evictionPressureTransitionPeriod: '1s', nodeStatusUpdateFrequency: '1s' },
      kubeReserved: { memory: String(totalmem() - FOR_PODS * MIB) },
      evictionHard: { 'memory.available': `${KEPT}Mi` },
      ...way.config,
    },
  });
  try {
    const took: (number | 'OOM')[] = [];
    // Spread over the ten seconds between two looks.
    for (let at = 0; at < trials; at += 1) took.push(await trial(plane, node, `taker-${at}`, (10_000 / trials) * at));
    return { took, ...quantiles(took.filter((ms) => ms !== 'OOM')) };
  } catch (error) {
    process.stderr.write(`${await node.explain()}\n`);
    throw error;
  } finally {
    await node.stop();
  }
}

const plane = await ControlPlane.start();
try {
  await withContainerd(async (containerd) => {
    const figures: Record<string, Awaited<ReturnType<typeof measure>>> = {};
    for (const way of WAYS) figures[way.name] = await measure(plane, containerd, way);
    const ours = figures['actorlet']?.p50 ?? NaN;
    const ratios = Object.fromEntries(
      Object.entries(figures).flatMap(([name, { p50 }]) =>
        name === 'actorlet' ? [] : [[`actorlet / ${name}`, ratio(ours, p50)]],
      ),
    );
    process.stdout.write(`${JSON.stringify({ ...figures, 'p50, ratios': ratios }, null, 1)}\n`);
  });
} finally {
  await plane.stop();
}
