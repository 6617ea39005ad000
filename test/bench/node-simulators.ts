import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import type { Node, Pod } from '../cluster/support/api-objects.ts';
import { DaemonProcess } from '../tools/daemon-process.ts';
import { referenceTool } from '../tools/reference-tool.ts';
import { usageOfTree } from './cluster-usage.ts';

/**
 * Simulated nodes beside KWOK and kubemark's hollow kubelets on one control plane, in turn, in one run: time to Ready nodes, pods Running
 * a second (they are bound by hand), memory of a node and of a pod, CPU while nothing changes. Prints JSON; times tell of the machine
 * and of who else uses it.
 *   bin/bench node-simulators [nodes] [pods a node] [hollow kubelets] [who: actorlet,kwok,kubemark]
 */
const [nodes = 100, podsEach = 10, hollow = 5] = process.argv.slice(2, 5).map(Number);
const who = (process.argv[5] ?? 'actorlet,kwok,kubemark').split(',');
const IDLE_MS = Number(process.env['IDLE_MS'] ?? 30_000);
const AT_ONCE = 32;
const PODS = '/api/v1/namespaces/default/pods';

type Simulator = (plane: ControlPlane, names: readonly string[]) => Promise<DaemonProcess[]>;

const simulators: Record<string, Simulator> = {
  actorlet: (plane, names) =>
    Promise.resolve([
      daemon(plane, 'actorlet', fileURLToPath(new URL('../../bin/actorlet', import.meta.url)), [
        ...['nodes', '--kubeconfig', plane.adminKubeconfig, '--count', String(names.length), '--port', '0'],
        ...['--output', 'json', '--log-file', join(plane.dir, 'logs', 'nodes.log')],
      ]),
    ]),
  async kwok(plane, names) {
    const program = await referenceTool('kwok');
    await inTurns(names, (name) => plane.api.post('/api/v1/nodes', fakeNode(name)));
    return [
      daemon(plane, 'kwok', program, [
        ...['--kubeconfig', plane.adminKubeconfig, '--config', join(dirname(program), 'stages.yaml')],
        ...['--manage-all-nodes=true', '--node-lease-duration-seconds', '40'],
      ]),
    ];
  },
  async kubemark(plane, names) {
    const program = await referenceTool('kubemark');
    return names.map((name, i) =>
      daemon(plane, name, program, [
        ...['--morph', 'kubelet', '--name', name, '--kubeconfig', plane.adminKubeconfig],
        ...[
          '--use-host-image-service=false',
          '--kubelet-port',
          String(21_000 + i),
          '--kubelet-read-only-port',
          String(22_000 + i),
        ],
      ]),
    );
  },
};

const plane = await ControlPlane.start();
try {
  // Each as it comes: the next one may fail.
  for (const each of who) process.stdout.write(`${JSON.stringify(await measured(each), null, 1)}\n`);
} finally {
  await plane.stop();
}

async function measured(simulator: string): Promise<object> {
  const names = Array.from({ length: simulator === 'kubemark' ? hollow : nodes }, (_, i) => `node-${i}`);
  const pods = names.flatMap((node) => Array.from({ length: podsEach }, (_, i) => podOf(`${node}-${i}`, node)));
  const began = performance.now();
  const made = await simulators[simulator]?.(plane, names);
  if (made === undefined) throw new Error(`${simulator} is none of ${Object.keys(simulators).join(', ')}`);
  try {
    const running = async (): Promise<void> => {
      for (const each of made) await each.mustRun();
    };
    await until(
      running,
      async () => (await plane.api.list<Node>('/api/v1/nodes')).filter(isReady).length,
      names.length,
    );
    const readySeconds = since(began);
    const empty = await idle(made);

    const before = usageOf(made);
    const servers = usageOf(serverParts());
    const start = performance.now();
    await inTurns(pods, (pod) => plane.api.post(PODS, pod));
    const createdSeconds = since(start);
    await until(running, async () => (await plane.api.list<Pod>(PODS)).filter(isRunning).length, pods.length);
    const seconds = since(start);
    const after = usageOf(made);
    const serversAfter = usageOf(serverParts());
    const full = await idle(made);
    return {
      simulator,
      nodes: names.length,
      pods: pods.length,
      readySeconds,
      rssMiB: { empty: mebi(empty.rss), withPods: mebi(full.rss) },
      rssKiBPerNodeEmpty: Math.round(empty.rss / names.length / 1024),
      rssKiBPerPod: round((full.rss - empty.rss) / pods.length / 1024),
      createdSeconds,
      podsRunningPerSecond: round(pods.length / seconds),
      cpuMsPerPodStart: round(((after.cpu - before.cpu) * 1000) / pods.length),
      controlPlaneCpuMsPerPodStart: round(((serversAfter.cpu - servers.cpu) * 1000) / pods.length),
      idleMsPerNodeSecond: { empty: perNode(empty.idle, names), withPods: perNode(full.idle, names) },
      load: readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 2).map(Number),
    };
  } finally {
    for (const each of made) await each.terminate(20_000);
    for (const each of made) removeRoot(each);
    // One by one: a collection of thousands takes the server longer than a call may.
    const left = await plane.api.list<Pod>(PODS);
    await inTurns(left, ({ metadata }) =>
      plane.api.delete(`${PODS}/${metadata?.name ?? ''}`, { gracePeriodSeconds: 0 }).catch(() => undefined),
    );
    await inTurns(names, (name) => plane.api.delete(`/api/v1/nodes/${name}`).catch(() => undefined));
    await until(
      () => Promise.resolve(),
      async () => -(await plane.api.list<Pod>(PODS)).length,
      0,
    );
  }
}

function daemon(plane: ControlPlane, name: string, program: string, args: readonly string[]): DaemonProcess {
  return new DaemonProcess({
    name,
    program,
    args,
    logFile: join(plane.dir, 'logs', `${name}.log`),
  });
}

/** A hollow kubelet leaves its root directory in /tmp, wherever TMPDIR is. */
function removeRoot({ logFile }: DaemonProcess): void {
  const dir = /Using (\/tmp\/hollow-kubelet\.\d+) as root dir/.exec(readFileSync(logFile, 'utf8'))?.[1];
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
}

function serverParts(): DaemonProcess[] {
  return (['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const).map((part) =>
    plane.part(part),
  );
}

/** Memory in bytes and CPU seconds so far, of all processes together. */
function usageOf(processes: readonly DaemonProcess[]): { rss: number; cpu: number } {
  const all = processes.map(({ pid }) => usageOfTree(pid));
  return {
    rss: all.reduce((sum, { rssMiB }) => sum + rssMiB * 2 ** 20, 0),
    cpu: all.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 1000,
  };
}

/** What they take while nothing changes: memory, and CPU seconds a second. */
async function idle(processes: readonly DaemonProcess[]): Promise<{ rss: number; idle: number }> {
  await sleep(5_000);
  const before = usageOf(processes);
  const at = performance.now();
  await sleep(IDLE_MS);
  const { rss, cpu } = usageOf(processes);
  return { rss, idle: (cpu - before.cpu) / since(at) };
}

async function until(alive: () => Promise<void>, count: () => Promise<number>, wanted: number): Promise<void> {
  while ((await count()) < wanted) {
    await alive();
    await sleep(500);
  }
}

/** Does the same for all, some at a time. */
async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function isReady(node: Node): boolean {
  return node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
}

function isRunning(pod: Pod): boolean {
  return pod.status?.phase === 'Running';
}

function fakeNode(name: string): object {
  const resources = { cpu: '8', memory: '32Gi', pods: '110' };
  return {
    metadata: { name, labels: { type: 'kwok' }, annotations: { 'kwok.x-k8s.io/node': 'fake' } },
    status: { capacity: resources, allocatable: resources },
  };
}

function podOf(name: string, nodeName: string): object {
  const requests = { cpu: '50m', memory: '64Mi' };
  return {
    metadata: { name, labels: { app: 'web' } },
    spec: {
      ...{ nodeName, terminationGracePeriodSeconds: 0, automountServiceAccountToken: false },
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name: 'c', image: 'nginx:1', ports: [{ containerPort: 80 }], resources: { requests } }],
    },
  };
}

function perNode(cpu: number, names: readonly string[]): number {
  return Math.round((cpu * 1e6) / names.length) / 1000;
}

function since(at: number): number {
  return round((performance.now() - at) / 1000);
}

function mebi(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
