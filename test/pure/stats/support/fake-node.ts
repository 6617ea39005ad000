import { pino } from 'pino';
import {
  Container,
  ContainerState,
  ContainerStats,
  ImageFsInfoResponse,
  PodSandbox,
  PodSandboxState,
  PodSandboxStats,
} from '../../../../cri/generated/runtime/v1/api.ts';
import type { DeepPartial } from '../../../../cri/generated/runtime/v1/api.ts';
import type {
  CgroupReader,
  CgroupReading,
  WithoutParts,
} from '../../../../actors/resources/cgroup-stats/cgroup-reading.ts';
import { resolveFeatureGates } from '../../../../actors/configure/configuration/feature-gates.ts';
import { kubeletConfigurationSchema } from '../../../../actors/configure/configuration/kubelet-configuration.ts';
import { StatsProvider } from '../../../../actors/resources/stats/stats-provider.ts';
import type { StatsOptions } from '../../../../actors/resources/stats/stats-options.ts';

/** 2026-01-02T03:04:05.678Z. */
export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
/** A second before, in ns as CRI writes it. */
export const CRI_TIME = String(BigInt(NOW - 1000) * 1_000_000n);
export const MIB = 1024 * 1024;

/** A reading whose figures follow from `size`: cpu in seconds, memory in MiB. */
export function reading(size: number, more: Partial<CgroupReading> = {}): CgroupReading {
  return {
    at: NOW,
    createdAt: NOW - 60_000,
    cpu: {
      ...{ usageNs: size * 1e9, userNs: 0, systemNs: 0, periods: 0, throttledPeriods: 0, throttledNs: 0 },
      ...{ shares: 2, quotaUs: null, periodUs: 100_000 },
    },
    memory: {
      ...{ usageBytes: size * MIB, maxUsageBytes: 0, cacheBytes: 0, rssBytes: size * MIB - 2000, swapBytes: 0 },
      ...{ mappedFileBytes: 0, kernelBytes: 0, workingSetBytes: size * MIB - 1000, totalActiveFileBytes: 0 },
      ...{ totalInactiveFileBytes: 0, failures: 0, pageFaults: size, majorPageFaults: 1, hierarchicalPageFaults: 0 },
      ...{ hierarchicalMajorPageFaults: 0, limitBytes: null, swapLimitBytes: null, reservationBytes: null },
      oomKills: 0,
    },
    processes: { processes: 3, threads: 5, threadsMax: null, fileDescriptors: 0, sockets: 0 },
    ...more,
  };
}

/** Cgroups by path; each reading comes with the time and the growth of its number (1 ms of cpu for each 10 ms). */
export class FakeCgroups implements CgroupReader {
  readonly cgroups = new Map<string, CgroupReading>();
  readonly reads: string[] = [];
  /** What the first read of each had no use for. */
  readonly without = new Map<string, WithoutParts>();
  trees = 0;
  /** ms since NOW. */
  passed = 0;

  read(cgroup: string, without: WithoutParts = {}): CgroupReading | null {
    const found = this.cgroups.get(cgroup);
    if (!this.without.has(cgroup)) this.without.set(cgroup, without);
    this.reads.push(cgroup);
    // time goes on from one reading to the next
    this.passed += 100;
    if (found?.cpu === undefined) return found ?? null;
    const cpu = { ...found.cpu, usageNs: found.cpu.usageNs + this.passed * 1e5 };
    return { ...found, at: NOW + this.passed, cpu };
  }

  tree(from: string): string[] {
    this.trees++;
    return [...this.cgroups.keys()].filter((path) => path === from || path.startsWith(from === '/' ? '/' : `${from}/`));
  }

  firstPid(cgroup: string): number | null {
    return this.cgroups.has(cgroup) ? 42 : null;
  }
}

/** A running container of a sandbox. */
export function container(
  id: string,
  podSandboxId: string,
  name: string,
  more: DeepPartial<Container> = {},
): Container {
  const state = ContainerState.CONTAINER_RUNNING;
  return Container.fromPartial({
    id,
    podSandboxId,
    metadata: { name, attempt: 0 },
    state,
    createdAt: CRI_TIME,
    ...more,
  });
}

/** A ready sandbox; its uid is `uid-<name>`. */
export function sandbox(id: string, name: string, more: DeepPartial<PodSandbox> = {}): PodSandbox {
  const metadata = { name, namespace: 'shop', uid: `uid-${name}`, attempt: 0 };
  return PodSandbox.fromPartial({ id, metadata, state: PodSandboxState.SANDBOX_READY, createdAt: CRI_TIME, ...more });
}

/** What a runtime of containerd's kind tells of a container. */
export function criStats(id: string, name: string, more: DeepPartial<ContainerStats> = {}): ContainerStats {
  return ContainerStats.fromPartial({
    attributes: { id, metadata: { name, attempt: 0 } },
    cpu: { timestamp: CRI_TIME, usageCoreNanoSeconds: { value: '7000000000' } },
    memory: { timestamp: CRI_TIME, workingSetBytes: { value: '1000' }, usageBytes: { value: '2000' } },
    writableLayer: {
      timestamp: CRI_TIME,
      fsId: { mountpoint: '/images' },
      usedBytes: { value: '12288' },
      inodesUsed: { value: '6' },
    },
    ...more,
  });
}

/** What a runtime tells of a pod and the containers in it. */
export function criPodStats(
  id: string,
  containers: ContainerStats[],
  linux: DeepPartial<NonNullable<PodSandboxStats['linux']>> = {},
): PodSandboxStats {
  return PodSandboxStats.fromPartial({ attributes: { id }, linux: { ...linux, containers } });
}

/** What a test may change of a fake node. */
export interface FakeNodeWish {
  containers?: Container[];
  sandboxes?: PodSandbox[];
  stats?: ContainerStats[];
  /** What the runtime tells of pods (PodAndContainerStatsFromCRI). */
  podStats?: PodSandboxStats[];
  cgroups?: Record<string, CgroupReading>;
  options?: Partial<StatsOptions>;
  config?: Record<string, unknown>;
  /** Fails the call of this name. */
  failing?: string;
  /** How; a runtime that is gone otherwise. */
  failure?: Error;
}

/** A provider on fakes, with the calls that the runtime got. */
export function fakeNode(wish: FakeNodeWish = {}) {
  const reader = new FakeCgroups();
  for (const [path, each] of Object.entries({ '/': reading(100), '/kubepods': reading(50), ...wish.cgroups })) {
    reader.cgroups.set(path, each);
  }
  const calls: string[] = [];
  const answer =
    <T>(name: string, value: T) =>
    () => {
      calls.push(name);
      return wish.failing === name
        ? Promise.reject(wish.failure ?? new Error('rpc error: code = Unavailable desc = gone'))
        : Promise.resolve(value);
    };
  const image = ImageFsInfoResponse.fromPartial({
    imageFilesystems: [
      { timestamp: CRI_TIME, fsId: { mountpoint: '/images' }, usedBytes: { value: '5' }, inodesUsed: { value: '3' } },
    ],
  });
  const cri = {
    runtime: {
      listContainers: answer('ListContainers', { containers: wish.containers ?? [] }),
      listPodSandbox: answer('ListPodSandbox', { items: wish.sandboxes ?? [] }),
      listContainerStats: answer('ListContainerStats', { stats: wish.stats ?? [] }),
      listPodSandboxStats: answer('ListPodSandboxStats', { stats: wish.podStats ?? [] }),
    },
    image: { imageFsInfo: answer('ImageFsInfo', image) },
  };
  const config = kubeletConfigurationSchema.parse({ cgroupRoot: '/', podLogsDir: '/nowhere/logs', ...wish.config });
  const stats = new StatsProvider({
    node: { nodeName: 'one', pods: () => [] },
    // Only these calls are made; a call of another one would throw and fail the test.
    cri: cri as unknown as StatsOptions['cri'],
    featureGates: resolveFeatureGates(config.featureGates).gates,
    ...{ reader, config, log: pino({ level: 'silent' }), now: () => NOW },
    flags: { rootDir: '/nowhere', runtimeCgroups: '' },
    machine: {
      interfaces: (pid) => [
        {
          name: 'eth1',
          rxBytes: pid,
          rxPackets: 0,
          rxErrors: 0,
          rxDropped: 0,
          txBytes: 2,
          txPackets: 0,
          txErrors: 1,
          txDropped: 0,
        },
        {
          name: 'eth0',
          rxBytes: 9,
          rxPackets: 0,
          rxErrors: 0,
          rxDropped: 0,
          txBytes: 8,
          txPackets: 0,
          txErrors: 0,
          txDropped: 0,
        },
      ],
      sizes: (path) =>
        Promise.resolve(
          path === '/images' || path === '/nowhere'
            ? { capacityBytes: 1000, availableBytes: 600, usedBytes: 300, inodes: 100, inodesFree: 40 }
            : null,
        ),
      usage: () => ({
        memoryBytes: 200 * MIB,
        swapBytes: 0,
        bootedAt: NOW - 3_600_000,
        rlimit: { time: NOW * 1e6, maxpid: 32768, curproc: 200 },
      }),
      ownCgroup: () => null,
    },
    ...wish.options,
  });
  return { stats, reader, calls };
}
