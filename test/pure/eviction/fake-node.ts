import { pino } from 'pino';
import { evictionManager } from '../../../actors/resources/eviction/eviction-manager.ts';
import type { EvictionGround, NodeUsageSource } from '../../../actors/resources/eviction/eviction-ground.ts';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import type { NodeStats } from '../../../actors/resources/stats/summary.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';
import { use } from './eviction-bench.ts';

export const GI = 2 ** 30;

interface FakeNodeOptions {
  evictionHard?: Record<string, string>;
  pods?: Pod[];
  journal?: EvictionGround['journal'];
  /** The kernel tells between two looks what is free. */
  watched?: boolean;
  /** What a pod takes of memory, bytes; the first 1Gi, the second 2Gi ... unless given. */
  takes?: (pod: Pod) => number;
  /** What there is to be given back before a pod goes; nobody gives anything unless given. */
  reclaim?: EvictionGround['reclaim'];
  config?: Partial<EvictionGround['config']>;
}

/** The manager on a node of fakes whose time is the test's. */
export function fakeNode(over: FakeNodeOptions = {}) {
  const looks: { at: number; look: () => void }[] = [];
  const seen = {
    now: 1_700_000_000_000,
    /** What the clock was set forward by, ms. */
    ahead: 0,
    available: 8 * GI,
    /** Free bytes of the only disk; null: nothing is told of it. */
    disk: null as number | null,
    /** Bytes that the pods' containers have written by their names, and when they were counted; null: as `use` has them. */
    layers: null as { at: number; bytes: Readonly<Record<string, number>> } | null,
    failure: null as Error | null,
    sourcesReady: true,
    states: new Map((over.pods ?? []).map((pod) => [pod.metadata?.uid ?? '', 'syncing.running'])),
    wholeLooks: 0,
    looks: 0,
    told: [] as { uid: string; message: PodMessage }[],
    events: [] as RecordedEvent[],
    lines: [] as string[],
    posts: 0,
  };
  const nodeAlone = (): Promise<NodeStats> => {
    if (seen.failure !== null) return Promise.reject(seen.failure);
    const memory = {
      time: (seen.now + seen.ahead) * 1e6,
      availableBytes: seen.available,
      workingSetBytes: 16 * GI - seen.available,
    };
    const fs =
      seen.disk === null ? {} : { fs: { time: memory.time, availableBytes: seen.disk, capacityBytes: 16 * GI } };
    return Promise.resolve({ nodeName: 'n', startTime: 0, memory, ...fs });
  };
  const usage: NodeUsageSource = {
    nodeAlone: () => {
      seen.looks++;
      return nodeAlone();
    },
    ...(over.watched === true && { memoryNow: () => ({ node: seen.available, pods: null }) }),
    disks: () =>
      seen.failure === null ? Promise.resolve({ imageFs: false, splitFs: false }) : Promise.reject(seen.failure),
    summary: async () => {
      seen.wholeLooks++;
      const pods = (over.pods ?? []).map((pod, i) => ({
        podRef: { uid: pod.metadata?.uid ?? '', name: pod.metadata?.name ?? '', namespace: 'default' },
        startTime: 0,
        ...(use({ memory: String(over.takes?.(pod) ?? (i + 1) * GI), volume: `${i + 1}Gi` }) as object),
        ...(seen.layers && { containers: [written(pod.metadata?.name ?? '', seen.layers)] }),
      }));
      return { node: await nodeAlone(), pods: pods as never };
    },
  };
  const ground: EvictionGround = {
    featureGates: resolveFeatureGates({}).gates,
    config: {
      enforceNodeAllocatable: [],
      evictionHard: over.evictionHard ?? { 'memory.available': '1Gi' },
      evictionSoft: {},
      evictionSoftGracePeriod: {},
      evictionMinimumReclaim: {},
      evictionPressureTransitionPeriod: 60_000,
      evictionMaxPodGracePeriod: 0,
      localStorageCapacityIsolation: true,
      ...over.config,
    },
    settings: { nodeName: 'n' },
    clock: {
      now: () => seen.now + seen.ahead,
      steady: () => seen.now,
      looking: () => seen.now,
      lookAfter: (ms, look) => {
        const entry = { at: seen.now + ms, look };
        looks.push(entry);
        return { cancel: () => void looks.splice(0, looks.length, ...looks.filter((each) => each !== entry)) };
      },
    },
    log: pino({ level: 'info' }, { write: (line) => void seen.lines.push((JSON.parse(line) as { msg: string }).msg) }),
    metrics: createMetrics({ processMetrics: false }),
    events: { record: (event) => void seen.events.push(event) },
    journal: over.journal ?? null,
    pods: () => over.pods ?? [],
    stateOf: (uid) => seen.states.get(uid) ?? null,
    sourcesReady: () => seen.sourcesReady,
    usage,
    reclaim: over.reclaim ?? (() => Promise.reject(new Error('nobody'))),
    spare: () => Promise.resolve({ images: { count: 3, bytes: GI }, containers: null }),
    tell: (uid, message) => void seen.told.push({ uid, message }),
    changed: () => void seen.posts++,
  };
  /** Lets time pass; what comes due is done, and all that follows from it. */
  const pass = async (ms: number): Promise<void> => {
    const until = seen.now + ms;
    for (;;) {
      const next = looks.sort((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > until) break;
      looks.shift();
      seen.now = Math.max(seen.now, next.at);
      next.look();
      for (let i = 0; i < 50; i++) await Promise.resolve();
    }
    seen.now = until;
  };
  return { manager: evictionManager(ground), seen, looks, pass, ground };
}

function written(name: string, { at, bytes }: { at: number; bytes: Readonly<Record<string, number>> }): object {
  const time = at * 1e6;
  return {
    name: 'c',
    startTime: 0,
    rootfs: { time, usedBytes: bytes[name] ?? 0, inodesUsed: 1 },
    logs: { time, usedBytes: 0, inodesUsed: 1 },
  };
}
