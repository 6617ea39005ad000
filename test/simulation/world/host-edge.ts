import { basename } from 'node:path';
import { codeOf } from '../../../actors/host/files/host-failure.ts';
import type { PodLogs } from '../../../actors/host/logs/pod-logs.ts';
import { failureOf, isManaged } from '../../../actors/host/volumes/managed-volume.ts';
import type { Remains } from '../../../machines/housekeeping/orphans-machine.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { Fact } from './facts.ts';
import type { FaultClock } from './fault-clock.ts';
import type { Owner, VirtualTime } from './virtual-time.ts';

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
  /** Whose volume manager is asked; null while there is none. */
  agent: () => VolumesOfAgent | null;
  /** Pods of this node may have claims. */
  claims: boolean;
}

/** The main thread, which makes volumes that pods have by claims. */
interface VolumesOfAgent {
  owner: Owner;
  volumes: { mount(uid: string, volume: string): Promise<string>; unmount(uid: string): Promise<void> };
}

/** Effects of files, mounts and cgroups in memory: what is there, and who removes it. */
export class HostEdge {
  readonly pods = new Map<string, HostPod>();
  /** Paths of pod cgroups with their pods' UIDs. */
  readonly cgroups = new Map<string, string>();
  readonly logFolders = new Map<string, string>();
  private readonly options: HostEdgeOptions;
  /** Set-ups that wait for the main thread, by the pod: ended by its tear-down, as `pod-work.ts` does. */
  private readonly waiting = new Map<string, Set<() => void>>();

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
    if (effect.type === 'host.TearDownPod') await this.unmount(effect.params.podUid);
    const result = this.act(effect, uid);
    if (effect.type === 'host.SetUpVolumes') await this.mount(effect, result as { paths: Record<string, string> });
    if (fault?.how === 'lost') throw failure();
    return result;
  }

  /** Removes what housekeeping has found of a pod that nobody owns. */
  async remove(what: Remains, uid: string): Promise<void> {
    if (what === 'folder') {
      await this.unmount(uid);
      this.tearDown(uid);
    } else for (const [path, owner] of this.cgroups) if (owner === uid) this.cgroups.delete(path);
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

  /** Has the main thread make the volumes that are its own to make, all at once; fails as the agent's own effect does. */
  private async mount(
    { params }: Extract<Effect, { type: 'host.SetUpVolumes' }>,
    { paths }: { paths: Record<string, string> },
  ): Promise<void> {
    const { podUid } = params;
    const managed = params.volumes.filter(isManaged);
    if (managed.length === 0) return;
    const made = await Promise.allSettled(
      managed.map(({ name }) =>
        this.orStopped(
          podUid,
          this.ask((volumes) => volumes.mount(podUid, name)),
        ),
      ),
    );
    const failures: { name: string; reason: unknown }[] = [];
    for (const [i, { name }] of managed.entries()) {
      const one = made[i];
      if (one?.status === 'rejected') failures.push({ name, reason: one.reason });
      else if (one !== undefined) paths[name] = one.value;
    }
    if (failures.length > 0) throw failureOf(failures);
    for (const { name } of managed) this.pods.get(podUid)?.volumes.set(name, paths[name] ?? '');
  }

  /** Has the main thread take all volumes of a pod away that are its own. */
  private async unmount(uid: string): Promise<void> {
    for (const stop of this.waiting.get(uid) ?? []) stop();
    if (this.options.claims) await this.ask((volumes) => volumes.unmount(uid));
  }

  private orStopped<T>(uid: string, promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const stops = this.waiting.get(uid) ?? new Set();
      this.waiting.set(uid, stops);
      const stop = (): void => reject(Object.assign(new Error('the pod is being torn down'), { code: 'Canceled' }));
      stops.add(stop);
      promise.then(resolve, reject).finally(() => stops.delete(stop));
    });
  }

  /** A worker asks its main thread; nothing comes back when either is dead by then. */
  private ask<T>(what: (volumes: VolumesOfAgent['volumes']) => Promise<T>): Promise<T> {
    const { time } = this.options;
    const { owner: worker } = time;
    const agent = this.options.agent();
    return new Promise((resolve, reject) => {
      if (agent === null) return;
      const asked = (): void => {
        what(agent.volumes).then(
          (answer) => time.after(1, worker, () => resolve(answer), false),
          (error: unknown) => {
            const failure = Object.assign(new Error(error instanceof Error ? error.message : String(error)), {
              code: codeOf(error),
            });
            time.after(1, worker, () => reject(failure), false);
          },
        );
      };
      time.after(1, agent.owner, asked, false);
    });
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
        for (const volume of volumes)
          if (!isManaged(volume))
            held.volumes.set(
              volume.name,
              `${this.options.rootDir}/pods/${podUid}/volumes/kubernetes.io~sim/${volume.name}`,
            );
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
