import { basename } from 'node:path';
import type { PodLogs } from '../../../actors/host/logs/pod-logs.ts';
import type { Remains } from '../../../machines/housekeeping/orphans-machine.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { Fact } from './facts.ts';
import type { FaultClock } from './fault-clock.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What the node keeps of one pod. */
export interface HostPod {
  /** Path of each volume that is set up, by name. */
  volumes: Map<string, string>;
  folder: boolean;
}

/** What the host's edge is made from. */
export interface HostEdgeOptions {
  time: VirtualTime;
  faults: FaultClock;
  rootDir: string;
  tell: (fact: Fact) => void;
}

/** Effects of files, mounts and cgroups in memory: what is there, and who removes it. */
export class HostEdge {
  readonly pods = new Map<string, HostPod>();
  /** Paths of pod cgroups with their pods' UIDs. */
  readonly cgroups = new Map<string, string>();
  readonly logFolders = new Map<string, string>();
  private readonly options: HostEdgeOptions;

  constructor(options: HostEdgeOptions) {
    this.options = options;
  }

  /** Carries out an effect; rejects as the file system would. */
  async run(effect: Effect, uid: string): Promise<unknown> {
    const { faults } = this.options;
    const fault = faults.strikes('host', ({ effects }) => effects.includes('*') || effects.includes(effect.type));
    await this.pass(fault?.how === 'slow' ? 15_000 : 2);
    let text = `${fault?.code ?? ''}: a fault of the simulation`;
    if (fault?.how === 'fail' && effect.type === 'host.SetUpVolumes') {
      // Those before the one that fails are set up (actors/host/volumes/volumes.ts).
      const { volumes } = effect.params;
      const at = this.options.time.now % Math.max(1, volumes.length);
      this.act({ ...effect, params: { ...effect.params, volumes: volumes.slice(0, at) } }, uid);
      text = `MountVolume.SetUp failed for volume "${volumes[at]?.name ?? ''}" : ${text}`;
    }
    const failure = (): Error => Object.assign(new Error(text), { code: fault?.code });
    if (fault?.how === 'fail') throw failure();
    const result = this.act(effect, uid);
    if (fault?.how === 'lost') throw failure();
    return result;
  }

  /** Removes what housekeeping has found of a pod that nobody owns. */
  remove(what: Remains, uid: string): void {
    if (what === 'folder') this.tearDown(uid);
    else for (const [path, owner] of this.cgroups) if (owner === uid) this.cgroups.delete(path);
  }

  /** The folders of logs, for whoever collects them. */
  podLogs(): PodLogs {
    const done = Promise.resolve();
    return {
      folders: () => {
        this.options.tell({ f: 'host', effect: 'podLogs.folders', uid: '' });
        return Promise.resolve([...this.logFolders.keys()].map((path) => basename(path)));
      },
      deadLinks: () => Promise.resolve([]),
      removeFolder: (name) => {
        for (const [path, uid] of this.logFolders) {
          if (basename(path) !== name) continue;
          this.logFolders.delete(path);
          this.options.tell({ f: 'host', effect: 'podLogs.removeFolder', uid });
        }
        return done;
      },
      removeLink: () => done,
      removeLog: () => done,
    };
  }

  /** Is there anything that housekeeping would look at? */
  holdsOthersThan(alive: (uid: string) => boolean): boolean {
    return [...this.pods.keys(), ...this.cgroups.values()].some((uid) => !alive(uid));
  }

  private pass(ms: number): Promise<void> {
    const { time } = this.options;
    const { owner } = time;
    return new Promise((resolve) => time.after(ms, owner, resolve, false));
  }

  private act(effect: Effect, uid: string): unknown {
    switch (effect.type) {
      case 'host.EnsurePodCgroup':
        this.cgroups.set(effect.params.cgroup.path, uid);
        return {};
      case 'host.RemovePodCgroup':
        this.cgroups.delete(effect.params.path);
        return {};
      case 'host.ReadPodResources':
        return {
          cpuShares: 2,
          cpuQuotaUs: -1,
          cpuPeriodUs: 100_000,
          memoryLimitBytes: Number.MAX_SAFE_INTEGER,
          usageBytes: 0,
          containers: Object.fromEntries(effect.params.containers.map(({ name }) => [name, 0])),
        };
      case 'host.SetUpVolumes': {
        const { podUid, volumes } = effect.params;
        const held = this.pods.get(podUid) ?? { volumes: new Map<string, string>(), folder: true };
        this.pods.set(podUid, held);
        for (const { name } of volumes)
          held.volumes.set(name, `${this.options.rootDir}/pods/${podUid}/volumes/kubernetes.io~sim/${name}`);
        this.options.tell({ f: 'host', effect: effect.type, uid: podUid });
        return { paths: Object.fromEntries(held.volumes) };
      }
      case 'host.TearDownPod':
        this.tearDown(effect.params.podUid);
        return {};
      case 'host.PrepareContainer':
        this.logFolders.set(effect.params.logDirectory, uid);
        return {
          subPaths: Object.fromEntries(effect.params.subPaths.map((s) => [s.key, `${s.volumePath}/${s.subPath}`])),
        };
      case 'host.RemovePodLogs':
        this.logFolders.delete(effect.params.logDirectory);
        this.options.tell({ f: 'host', effect: effect.type, uid });
        return {};
      case 'host.ReadTerminationMessage':
        return { message: '' };
      default:
        return {};
    }
  }

  private tearDown(uid: string): void {
    this.options.tell({ f: 'host', effect: 'host.TearDownPod', uid });
    this.pods.delete(uid);
  }
}
