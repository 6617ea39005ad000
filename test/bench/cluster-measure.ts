import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterNode } from '../cluster/support/cluster-node.ts';
import type { ControlPlane } from '../cluster/support/control-plane.ts';
import { AuditCounter, perPod } from './cluster-audit.ts';
import type { CallCounts } from './cluster-audit.ts';
import { usageOfTree } from './cluster-usage.ts';
import { now, quantiles } from './figures.ts';
import { WatchedPods } from './watched-pods.ts';

/** How much is measured. */
export interface MeasureWish {
  /** Pods that are made and removed one by one before anything is measured (1): the first pays for much that is made once. */
  warm?: number;
  sequential: number;
  burst: number;
  idleSeconds: number;
  /** How long the node rests after the burst before it counts as idle, in seconds (15): what a burst leaves to be done is part of its end otherwise. */
  settleSeconds?: number;
  /** All calls to the runtime so far, by name, where the runtime tells. */
  runtimeCalls?: () => CallCounts;
}

/** Figures of one agent. */
export interface Figures {
  agentStartToNodeReadyMs: number;
  sequential: Phase;
  burst: Phase & { allReadyMs: number; allGoneMs: number };
  idle: { cpuPercent: number; rssMiB: number; anonMiB: number; callsPerMinute: CallCounts };
  rssMiB: { start: number; afterSequential: number; burst: number };
}

/** One phase: pods one by one, or all at once. */
export interface Phase {
  createToReadyMs: ReturnType<typeof quantiles>;
  deleteToGoneMs: ReturnType<typeof quantiles>;
  /** CPU of the agent and its children from the first create to the last Ready, a pod. */
  cpuMsPerPodStart: number;
  /** The same from the first create to the last end, a pod. */
  cpuMsPerPodLife: number;
  /** Calls to the API server a pod from create to gone, those about the node itself left out. */
  callsPerPodLife: { all: number; by: CallCounts };
  /** Calls to the runtime a pod, where the runtime tells; those for the node (lists, status) are among them. */
  runtimeCallsPerPodLife?: { all: number; by: CallCounts };
}

/** Runs the bench on a node whose agent is started here; the caller stops the node. */
export async function measureAgent(plane: ControlPlane, node: ClusterNode, wish: MeasureWish): Promise<Figures> {
  const agent = await node.startAgent();
  await node.waitReady();
  const agentStartToNodeReadyMs = Math.round(now() - agent.spawnedAt);
  const usage = () => usageOfTree(agent.pid);
  const audit = new AuditCounter(plane.auditLog, `system:node:${node.name}`);
  const watched = new WatchedPods(plane.api, node.name);
  const names = (kind: string, count: number) => Array.from({ length: count }, (_, i) => `${node.name}-${kind}-${i}`);
  try {
    for (const name of names('first', wish.warm ?? 1)) await watched.live(name);
    await sleep(3_000);
    const start = usage().rssMiB;

    audit.mark();
    const runtime = runtimeCounter(wish.runtimeCalls);
    const one = names('s', wish.sequential);
    let cpuStart = 0;
    const cpu0 = usage().cpuMs;
    for (const name of one) {
      const before = usage().cpuMs;
      await watched.create(name);
      await watched.until([name], 'ready');
      cpuStart += usage().cpuMs - before;
      await watched.remove(name);
      await watched.until([name], 'gone');
    }
    await sleep(2_000); // events come late
    const sequential = {
      ...phase(watched, one, cpuStart, usage().cpuMs - cpu0, audit.take()),
      ...runtime(one.length),
    };
    const afterSequential = usage().rssMiB;

    const many = names('b', wish.burst);
    const cpu1 = usage().cpuMs;
    const up = now();
    await Promise.all(many.map((name) => watched.create(name)));
    await watched.until(many, 'ready');
    const allReadyMs = Math.round(now() - up);
    const cpuUp = usage().cpuMs - cpu1;
    await sleep((wish.settleSeconds ?? 15) * 1000);
    const toHere = audit.take();
    const [before, at] = [usage(), now()];
    await sleep(wish.idleSeconds * 1000);
    const after = usage();
    const idleMs = now() - at;
    const idleCalls = audit.take();
    const cpu2 = usage().cpuMs;
    const down = now();
    await Promise.all(many.map((name) => watched.remove(name)));
    await watched.until(many, 'gone');
    const allGoneMs = Math.round(now() - down);
    const cpuDown = usage().cpuMs - cpu2;
    await sleep(2_000);
    const burst = phase(watched, many, cpuUp, cpuUp + cpuDown, sum(toHere, audit.take()));
    const perMinute = Object.entries(idleCalls).map(([key, n]) => [key, Math.round((n * 60_000) / idleMs)] as const);
    return {
      agentStartToNodeReadyMs,
      sequential,
      burst: { ...burst, allReadyMs, allGoneMs },
      idle: {
        cpuPercent: Math.round(((after.cpuMs - before.cpuMs) / idleMs) * 10_000) / 100,
        rssMiB: after.rssMiB,
        anonMiB: after.anonMiB,
        callsPerMinute: Object.fromEntries(perMinute),
      },
      rssMiB: { start, afterSequential, burst: after.rssMiB },
    };
  } finally {
    watched.stop();
  }
}

function phase(
  watched: WatchedPods,
  names: readonly string[],
  cpuStart: number,
  cpuLife: number,
  calls: CallCounts,
): Phase {
  const all = names.map((name) => watched.times.get(name)).filter((t) => t !== undefined);
  return {
    createToReadyMs: quantiles(all.map((t) => (t.ready ?? NaN) - t.created)),
    deleteToGoneMs: quantiles(all.map((t) => (t.gone ?? NaN) - (t.deleted ?? NaN))),
    cpuMsPerPodStart: Math.round((cpuStart / names.length) * 10) / 10,
    cpuMsPerPodLife: Math.round((cpuLife / names.length) * 10) / 10,
    callsPerPodLife: perPod(calls, names.length),
  };
}

function sum(a: CallCounts, b: CallCounts): CallCounts {
  const out = { ...a };
  for (const [key, n] of Object.entries(b)) out[key] = (out[key] ?? 0) + n;
  return out;
}

/** Gives the calls to the runtime since the last time it was asked, a pod; nothing where the runtime does not tell. */
function runtimeCounter(
  counts: MeasureWish['runtimeCalls'],
): (pods: number) => { runtimeCallsPerPodLife?: Phase['callsPerPodLife'] } {
  let last = counts?.() ?? {};
  return (pods) => {
    if (counts === undefined) return {};
    const now = counts();
    const news = Object.entries(now).map(([name, n]) => [name, n - (last[name] ?? 0)] as const);
    last = now;
    return { runtimeCallsPerPodLife: perPod(Object.fromEntries(news.filter(([, n]) => n > 0)), pods) };
  };
}
