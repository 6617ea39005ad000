import { cgroupPath } from '../../../machines/qos/pod-cgroup.ts';
import type { WithoutParts } from '../cgroup-stats/cgroup-reading.ts';
import { CgroupBook, Turns, WITHOUT } from './cgroup-book.ts';
import type { MeasuredCgroup } from './cgroup-book.ts';
import { cgroupUsage, networkStats } from './cgroup-usage.ts';
import type { CgroupUsage } from './cgroup-usage.ts';
import { withMachineLimits } from './node-usage.ts';
import type { MachineUsage } from './node-usage.ts';
import type { RunningThings } from './runtime-listing.ts';
import type { MachineReaders, StatsOptions } from './stats-options.ts';
import type { ContainerStats, NetworkStats } from './summary.ts';

/** For what is read ten times a second. */
const MEMORY_ALONE = { ...WITHOUT, limits: true, processes: true, pressure: true, createdAt: true };

/** The cgroup below which all pods are (kubelet's GetPodCgroupRoot). */
function podsRootOf({ cgroupRoot, cgroupsPerQOS, cgroupDriver }: StatsOptions['config']): string {
  const root = cgroupRoot.split('/').filter((part) => part !== '');
  if (!cgroupsPerQOS) return cgroupPath(root, 'cgroupfs');
  return cgroupPath([...root, 'kubepods'], cgroupDriver === 'systemd' ? 'systemd' : 'cgroupfs');
}

/** What of a survey its caller has a use for. */
export interface SurveyWish {
  /** Wait for a second reading where there is no former one. */
  rates: boolean;
  /** Networks of sandboxes. */
  networks: boolean;
  /** What of no cgroup is told. Processes are read of containers alone, whatever is said here. */
  without: Pick<WithoutParts, 'processes' | 'limits' | 'pressure'>;
}

/** Reads all cgroups that a summary tells of: the node's, the system's, those of pods and of containers. */
export class CgroupSurveyor {
  private readonly options: Pick<StatsOptions, 'config' | 'flags' | 'now' | 'reader'>;
  private readonly machine: MachineReaders;
  private readonly psi: boolean;
  private readonly podsRoot: string;
  private readonly book: CgroupBook;
  private readonly startedAt: number;

  /** @param psi feature gate KubeletPSI */
  constructor(options: StatsOptions, machine: MachineReaders, psi: boolean) {
    this.options = options;
    this.machine = machine;
    this.psi = psi;
    this.podsRoot = podsRootOf(options.config);
    this.book = new CgroupBook(options.reader, this.podsRoot, options.now);
    this.startedAt = options.now() * 1e6;
  }

  /**
   * Takes a survey of these containers and the pods that they belong to.
   * @throws Error when there is no root cgroup
   */
  async survey({ containers, sandboxes }: RunningThings, wish: SurveyWish): Promise<CgroupSurvey> {
    const keys = new Set<string>();
    for (const { id, podSandboxId } of containers.values()) {
      const sandbox = sandboxes.get(podSandboxId);
      if (sandbox !== undefined)
        keys
          .add(`pod${sandbox.metadata?.uid ?? ''}`)
          .add(sandbox.id)
          .add(id);
    }
    const paths = this.book.find(keys);
    const system = this.systemCgroups();
    const cgroups = new Map<string, WithoutParts>();
    // When a pod or a container began is told by the runtime
    const [ofContainer, ofOthers] = [
      { ...WITHOUT, ...wish.without },
      { ...WITHOUT, ...wish.without, processes: true },
    ];
    const [container, pod] = [ofContainer, ofOthers].map((without) => ({ ...without, createdAt: true }));
    for (const path of ['/', ...system.map(([, path]) => path)]) cgroups.set(path, ofOthers);
    for (const [key, path] of paths) {
      // Of a sandbox only the network is told, which is no matter of its cgroup
      const without = containers.has(key) ? container : sandboxes.has(key) ? undefined : pod;
      if (without !== undefined && !cgroups.has(path)) cgroups.set(path, without);
    }
    const measured = await this.book.read(cgroups, wish.rates);
    const networks = wish.networks ? await this.networksOf(paths, sandboxes) : new Map<string, NetworkStats>();
    const machine = this.machine.usage(this.options.now());
    return new CgroupSurvey({ paths, measured, networks, system, machine, psi: this.psi, startedAt: this.startedAt });
  }

  /** By sandbox. */
  private async networksOf(
    paths: ReadonlyMap<string, string>,
    sandboxes: RunningThings['sandboxes'],
  ): Promise<Map<string, NetworkStats>> {
    const found = new Map<string, NetworkStats>();
    const turns = new Turns();
    for (const id of sandboxes.keys()) {
      const path = paths.get(id);
      const pid = path === undefined ? null : this.book.firstPid(path);
      const network = pid === null ? undefined : networkStats(this.machine.interfaces(pid), this.options.now());
      if (network !== undefined) found.set(id, network);
      if (turns.over) await turns.next();
    }
    return found;
  }

  /** Bytes that all pods together have in use; null without their cgroup. */
  podsMemory(): number | null {
    return this.options.reader.read(this.podsRoot, MEMORY_ALONE)?.memory?.workingSetBytes ?? null;
  }

  /** Names that summaries have for them, and cgroups; those that are not set are left out. */
  private systemCgroups(): [string, string][] {
    const { config, flags } = this.options;
    const kubelet = config.kubeletCgroups === '' ? this.machine.ownCgroup() : config.kubeletCgroups;
    const all: [string, string][] = [
      ['kubelet', kubelet ?? ''],
      ['runtime', flags.runtimeCgroups],
      ['misc', config.systemCgroups],
      ['pods', this.podsRoot],
    ];
    return all.filter(([, path]) => path !== '');
  }
}

interface SurveyParts {
  /** Cgroup of `pod<uid>` and of ids. */
  paths: ReadonlyMap<string, string>;
  /** By cgroup. */
  measured: ReadonlyMap<string, MeasuredCgroup>;
  system: readonly [string, string][];
  machine: MachineUsage;
  psi: boolean;
  /** Start of this agent, ns. */
  startedAt: number;
  /** By sandbox. */
  networks: ReadonlyMap<string, NetworkStats>;
}

/** What was read, in the terms of summaries. Keys are `pod<uid>` and ids of containers. */
export class CgroupSurvey {
  /** The node itself. */
  readonly root: MeasuredCgroup;
  readonly machine: MachineUsage;
  private readonly parts: SurveyParts;

  constructor(parts: SurveyParts) {
    const root = parts.measured.get('/');
    if (root === undefined) throw new Error('failed to get root cgroup stats: cgroup stats not found for "/"');
    this.root = { ...root, reading: withMachineLimits(root.reading, parts.machine) };
    this.machine = parts.machine;
    this.parts = parts;
  }

  /** Usage of the node. */
  rootUsage(): CgroupUsage {
    return cgroupUsage(this.root.reading, this.root.rate, this.parts.psi);
  }

  /** Undefined when it has no cgroup (any more). */
  usageOf(key: string): CgroupUsage | undefined {
    const own = this.measuredOf(key);
    return own && cgroupUsage(own.reading, own.rate, this.parts.psi);
  }

  /** Its cgroup tells all that it can tell, so that nobody else need be asked. */
  isWhole(key: string): boolean {
    return this.measuredOf(key)?.reading.memory !== undefined;
  }

  /** Processes of the cgroup itself. */
  processesOf(key: string): number | undefined {
    return this.measuredOf(key)?.reading.processes?.processes;
  }

  /** Network of a sandbox, by its id. */
  networkOf(sandbox: string): NetworkStats | undefined {
    return this.parts.networks.get(sandbox);
  }

  /** `systemContainers`; undefined when there are none. @param io with pressure of I/O */
  systemContainers(io: boolean): ContainerStats[] | undefined {
    const { system, measured, psi, startedAt } = this.parts;
    const found = system.flatMap(([name, path]): ContainerStats[] => {
      const own = measured.get(path);
      if (own === undefined) return [];
      const usage = cgroupUsage(own.reading, own.rate, psi);
      const startTime = name === 'kubelet' ? startedAt : own.reading.createdAt * 1e6;
      return [
        { name, startTime, cpu: usage.cpu, memory: usage.memory, io: io ? usage.io : undefined, swap: usage.swap },
      ];
    });
    return found.length > 0 ? found : undefined;
  }

  private measuredOf(key: string): MeasuredCgroup | undefined {
    return this.parts.measured.get(this.parts.paths.get(key) ?? '');
  }
}
