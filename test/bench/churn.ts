/**
 * How many pods a second a node keeps up with beside those that stay: a number of clients each create a pod, wait until it is Ready, delete it and wait
 * until it is gone, again and again, and more of them at a time from step to step. A step counts while the 99th percentile from create to Ready is
 * 5 s at most; the agent's figure is its best step. API server, clients and agent share the machine, so compare only within one run.
 *   bin/bench churn [--on simulated|containerd] [--agent NAME=PROGRAM ...] [--resident 110] [--clients 5 --clients 20 ...] [--seconds 20] [--rounds 1]
 * Prints one JSON object, and on standard error each turn's figures as soon as it is over. Needs root and what the test layer `cluster` needs.
 */
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterNode } from '../cluster/support/cluster-node.ts';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import { allInTurn, inTurn, namedAgents } from './agents-in-turn.ts';
import { usageOfTree } from './cluster-usage.ts';
import { now, quantiles } from './figures.ts';
import { WatchedPods } from './watched-pods.ts';

/** Longest 99th percentile from create to Ready of a node that keeps up, ms. */
const KEEPS_UP_MS = 5_000;

const { values } = parseArgs({
  options: {
    on: { type: 'string', default: 'simulated' },
    agent: { type: 'string', multiple: true },
    resident: { type: 'string', default: '110' },
    clients: { type: 'string', multiple: true, default: ['5', '20', '60'] },
    seconds: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '1' },
  },
});
const resident = Number(values.resident);
const clients = values.clients.map(Number);

/** So many clients at a time. */
interface Step {
  clients: number;
  /** Lives from create to gone that ended within the step, a second. */
  podsPerSecond: number;
  createToReadyMs: ReturnType<typeof quantiles>;
  deleteToGoneMs: ReturnType<typeof quantiles>;
  /** Of the agent. */
  cpuMsPerPod: number;
}

interface Churn {
  allResidentReadyMs: number;
  /** With the resident pods, before and after the churn. */
  rssMiB: { before: number; after: number };
  idleCpuPercent: number;
  steps: Step[];
  /** The best step's pods a second at which the node keeps up. */
  keepsUpWith: number;
}

const agents = await namedAgents(values.agent);
const config = { maxPods: resident + Math.max(...clients) + 50 };
const plane = await ControlPlane.start();
try {
  await allInTurn(agents, Number(values.rounds), (agent, round) =>
    inTurn({ plane, agent, on: values.on, round, config }, churn),
  );
} finally {
  await plane.stop();
}

async function churn(node: ClusterNode): Promise<Churn> {
  const agent = await node.startAgent();
  await node.waitReady();
  const usage = () => usageOfTree(agent.pid);
  const watched = new WatchedPods(plane.api, node.name);
  try {
    const stay = Array.from({ length: resident }, (_, i) => `${node.name}-stays-${i}`);
    const began = now();
    await Promise.all(stay.map((name) => watched.create(name)));
    await watched.until(stay, 'ready');
    const allResidentReadyMs = Math.round(now() - began);
    await sleep(5_000);
    const [idle, at] = [usage(), now()];
    await sleep(10_000);
    const before = usage();
    const idleCpuPercent = Math.round(((before.cpuMs - idle.cpuMs) / (now() - at)) * 10_000) / 100;
    const steps: Step[] = [];
    for (const count of clients) steps.push(await step(watched, node, count, () => usage().cpuMs));
    const rssMiB = { before: before.rssMiB, after: usage().rssMiB };
    await Promise.all(stay.map((name) => watched.remove(name)));
    await watched.until(stay, 'gone');
    const kept = steps.filter(({ createToReadyMs }) => createToReadyMs.p99 <= KEEPS_UP_MS);
    const keepsUpWith = Math.max(0, ...kept.map(({ podsPerSecond }) => podsPerSecond));
    return { allResidentReadyMs, rssMiB, idleCpuPercent, steps, keepsUpWith };
  } finally {
    watched.stop();
  }
}

async function step(watched: WatchedPods, node: ClusterNode, count: number, cpuMs: () => number): Promise<Step> {
  const seconds = Number(values.seconds);
  const names: string[] = [];
  const [began, cpu] = [now(), cpuMs()];
  const end = began + seconds * 1_000;
  const client = async (which: number) => {
    for (let n = 0; now() < end; n++) {
      const name = `${node.name}-${count}-${which}-${n}`;
      names.push(name);
      await watched.live(name);
    }
  };
  await Promise.all(Array.from({ length: count }, (_, which) => client(which)));
  const used = cpuMs() - cpu;
  const all = names.map((name) => watched.times.get(name)).filter((times) => times !== undefined);
  const within = all.filter(({ gone }) => gone !== undefined && gone <= end).length;
  return {
    clients: count,
    podsPerSecond: Math.round((within / seconds) * 10) / 10,
    createToReadyMs: quantiles(all.map(({ created, ready }) => (ready ?? NaN) - created)),
    deleteToGoneMs: quantiles(all.map(({ deleted, gone }) => (gone ?? NaN) - (deleted ?? NaN))),
    cpuMsPerPod: Math.round((used / all.length) * 10) / 10,
  };
}
