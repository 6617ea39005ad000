import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import type { Lease, Node, Pod } from '../cluster/support/api-objects.ts';
import { DaemonProcess } from '../../bin/control-plane/daemon-process.ts';
import { referenceTool } from '../tools/reference-tool.ts';
import { usageOfTree } from './cluster-usage.ts';

/**
 * Simulated nodes beside KWOK and kubemark's hollow kubelets on one control plane, in turn, in one run: time to Ready nodes, pods Running
 * a second (they are bound by hand) and removed again, memory of a node and of a pod, CPU while nothing changes; and what of it the
 * control plane took: its CPU by process, and what it was asked. Prints JSON, and what is waited for to stderr; times tell of the
 * machine and of who else uses it.
 *   bin/bench node-simulators [nodes] [pods a node] [hollow kubelets] [who: actorlet,kwok,kubemark]
 */
const [nodes = 100, podsEach = 10, hollow = 5] = process.argv.slice(2, 5).map(Number);
const who = (process.argv[5] ?? 'actorlet,kwok,kubemark').split(',');
const IDLE_MS = Number(process.env['IDLE_MS'] ?? 30_000);
/** Before that: events come after all else. */
const SETTLE_MS = Number(process.env['SETTLE_MS'] ?? 5_000);
const AT_ONCE = 32;
const PODS = '/api/v1/namespaces/default/pods';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const PARTS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
/** How often the API server is asked how far it is, ms: a list of a thousand pods is work, too. */
const LOOK_MS = 1_000;
/** How often it is told what is waited for, ms. */
const TELL_MS = 10_000;
/** Time that a simulator gets to end, ms: ours removes its nodes. */
const END_MS = 180_000;

type Simulator = (plane: ControlPlane, names: readonly string[]) => Promise<DaemonProcess[]>;

const simulators: Record<string, Simulator> = {
  actorlet: (plane, names) =>
    Promise.resolve([
      daemon(plane, 'actorlet', fileURLToPath(new URL('../../bin/actorlet', import.meta.url)), [
        ...['nodes', '--kubeconfig', plane.adminKubeconfig, '--count', String(names.length), '--port', '0'],
        ...['--cleanup', '--output', 'json', '--log-file', join(plane.dir, 'logs', 'nodes.log')],
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
      `${simulator}: nodes Ready`,
      running,
      async () => (await plane.api.list<Node>('/api/v1/nodes')).filter(isReady).length,
      names.length,
    );
    const readySeconds = since(began);
    const empty = await idle(made);

    const before = await work(made);
    const start = performance.now();
    await inTurns(pods, (pod) => plane.api.post(PODS, pod));
    const createdSeconds = since(start);
    await until(
      `${simulator}: pods Running`,
      running,
      async () => -(await countPods('&fieldSelector=status.phase!%3DRunning')),
      0,
    );
    const seconds = since(start);
    const started = workSince(before, await work(made), pods.length);
    const full = await idle(made);

    const beforeEnd = await work(made);
    const end = performance.now();
    await inTurns(pods, ({ metadata }) => plane.api.delete(`${PODS}/${metadata.name}`));
    await until(`${simulator}: pods removed`, running, async () => -(await countPods()), 0);
    const removedSeconds = since(end);
    const removed = workSince(beforeEnd, await work(made), pods.length);
    const atEnd = performance.now();
    for (const each of made) await each.terminate(END_MS);
    return {
      simulator,
      nodes: names.length,
      pods: pods.length,
      readySeconds,
      rssMiB: { empty: mebi(empty.rss), withPods: mebi(full.rss) },
      rssKiBPerNodeEmpty: Math.round(empty.rss / names.length / 1024),
      rssKiBPerPod: round((full.rss - empty.rss) / pods.length / 1024),
      createdSeconds,
      runningSeconds: seconds,
      podsRunningPerSecond: round(pods.length / seconds),
      perPodStart: started,
      removedSeconds,
      podsRemovedPerSecond: round(pods.length / removedSeconds),
      perPodRemoval: removed,
      endSeconds: since(atEnd),
      // Of ours, which removes them; the others' are removed below.
      leftAtItsEnd: {
        nodes: (await plane.api.list<Node>('/api/v1/nodes')).length,
        leases: (await plane.api.list<Lease>(LEASES)).length,
      },
      idleMsPerNodeSecond: { empty: perNode(empty.idle, names), withPods: perNode(full.idle, names) },
      load: readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 2).map(Number),
    };
  } finally {
    for (const each of made) await each.terminate(END_MS);
    for (const each of made) removeRoot(each);
    // One by one: a collection of thousands takes the server longer than a call may.
    const left = await plane.api.list<Pod>(PODS);
    await inTurns(left, ({ metadata }) =>
      plane.api.delete(`${PODS}/${metadata?.name ?? ''}`, { gracePeriodSeconds: 0 }).catch(() => undefined),
    );
    await inTurns(names, (name) => plane.api.delete(`/api/v1/nodes/${name}`).catch(() => undefined));
    await until(
      `${simulator}: nothing left`,
      () => Promise.resolve(),
      async () => -(await countPods()),
      0,
    );
  }
}

/** How many there are, with a selector at least: a list of ten thousand each second would be what is measured. */
async function countPods(selector = ''): Promise<number> {
  const text = await plane.api.text(`${PODS}?limit=1${selector}`);
  const { items, metadata } = JSON.parse(text) as { items: Pod[]; metadata: { remainingItemCount?: number } };
  return items.length + (metadata.remainingItemCount ?? 0);
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

/** CPU seconds so far of the simulator and of each part of the control plane, and what the API server was asked. */
interface Work {
  cpu: Map<string, number>;
  requests: Map<string, number>;
}

async function work(simulator: readonly DaemonProcess[]): Promise<Work> {
  const parts = PARTS.map((part) => [part, usageOf([plane.part(part)]).cpu] as const);
  const requests = new Map<string, number>();
  for (const line of (await plane.api.text('/metrics')).split('\n')) {
    if (!line.startsWith('apiserver_request_total{')) continue;
    const label = (name: string): string => line.split(`${name}="`)[1]?.split('"', 1)[0] ?? '';
    const what = [label('verb'), [label('resource'), label('subresource')].filter((part) => part !== '').join('/')];
    const key = what.join(' ');
    requests.set(key, (requests.get(key) ?? 0) + Number(line.slice(line.lastIndexOf(' '))));
  }
  return { cpu: new Map([['simulator', usageOf(simulator).cpu], ...parts]), requests };
}

/** CPU, ms, and requests for each pod: the control plane's own are among them, and the leases of the time. */
function workSince(before: Work, after: Work, count: number): object {
  const each = (now: Map<string, number>, then: Map<string, number>, unit: number, least: number): object =>
    Object.fromEntries(
      [...now]
        .map(([key, value]) => [key, Math.round(((value - (then.get(key) ?? 0)) * unit * 100) / count) / 100] as const)
        .filter(([, value]) => value >= least)
        .sort(([, a], [, b]) => b - a),
    );
  return {
    cpuMs: each(after.cpu, before.cpu, 1000, 0),
    requests: each(after.requests, before.requests, 1, 0.05),
  };
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
  await sleep(SETTLE_MS);
  const before = usageOf(processes);
  const at = performance.now();
  await sleep(IDLE_MS);
  const { rss, cpu } = usageOf(processes);
  return { rss, idle: (cpu - before.cpu) / since(at) };
}

async function until(
  what: string,
  alive: () => Promise<void>,
  count: () => Promise<number>,
  wanted: number,
): Promise<void> {
  let told = performance.now();
  for (;;) {
    const now = await count();
    if (now >= wanted) return;
    await alive();
    if (performance.now() - told > TELL_MS) {
      told = performance.now();
      process.stderr.write(`${what}: ${Math.abs(now)}${wanted === 0 ? ' or more left' : `, not yet ${wanted}`}\n`);
    }
    await sleep(LOOK_MS);
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

function fakeNode(name: string): object {
  const resources = { cpu: '8', memory: '32Gi', pods: '110' };
  return {
    metadata: { name, labels: { type: 'kwok' }, annotations: { 'kwok.x-k8s.io/node': 'fake' } },
    status: { capacity: resources, allocatable: resources },
  };
}

function podOf(name: string, nodeName: string): { metadata: { name: string; labels: object }; spec: object } {
  const requests = { cpu: '50m', memory: '64Mi' };
  return {
    metadata: { name, labels: { app: 'web' } },
    spec: {
      ...{ nodeName, automountServiceAccountToken: false },
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
