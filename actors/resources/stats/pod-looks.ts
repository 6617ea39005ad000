import type { CriClient } from '../../../cri/client/cri-client.ts';
import type { ContainerStats as CriContainerStats } from '../../../cri/generated/runtime/v1/api.ts';
import type { CgroupSurvey, CgroupSurveyor, SurveyWish } from './cgroup-survey.ts';
import { countPodFiles } from './pod-files.ts';
import type { PodFiles, PodFolders } from './pod-files.ts';
import { RuntimeUsage, withoutFigures } from './runtime-figures.ts';
import type { RuntimeFigures } from './runtime-figures.ts';
import { CpuRates } from './cpu-rates.ts';
import { listRunning, measuredPods, NOTHING } from './runtime-listing.ts';
import { listPodUsage, toldPods } from './told-pods.ts';
import type { MeasuredPod, RunningThings } from './runtime-listing.ts';

/** What the forms of a summary read of cgroups; the counters are what `/metrics/resource` tells. */
const FULL: SurveyWish = { rates: true, networks: true, without: {} };
const SHORT: SurveyWish = { rates: true, networks: false, without: { processes: true } };
const COUNTERS: SurveyWish = {
  rates: false,
  networks: false,
  without: { processes: true, limits: true, pressure: true },
};

/** What was seen of the pods that run. */
export interface PodLook {
  pods: MeasuredPod[];
  survey: CgroupSurvey;
  /** By sandbox; empty where nobody wants them. */
  files: ReadonlyMap<string, PodFiles>;
}

/**
 * Looks at all pods that run, for one summary: runtime, cgroups and files at the same time, because the runtime takes longest to
 * gather its figures, and only what is told.
 */
export class PodLooks {
  private readonly cri: Pick<CriClient, 'runtime'>;
  private readonly cgroups: CgroupSurveyor;
  private readonly folders: PodFolders;
  private readonly runtime: RuntimeUsage;
  private readonly fromRuntime: boolean;
  private readonly toldRates = new CpuRates();

  /** @param fromRuntime feature gate PodAndContainerStatsFromCRI: of pods and containers only the runtime is asked */
  constructor(
    cri: Pick<CriClient, 'runtime'>,
    cgroups: CgroupSurveyor,
    { folders, fromRuntime }: { folders: PodFolders; fromRuntime: boolean },
  ) {
    this.cri = cri;
    this.cgroups = cgroups;
    this.folders = folders;
    this.fromRuntime = fromRuntime;
    this.runtime = new RuntimeUsage(cri, folders.now);
  }

  /** All there is to see. @throws Error with kubelet's words, when the runtime does not answer */
  async full(): Promise<PodLook> {
    const count = (running: RunningThings): Promise<PodLook['files']> => this.countFiles(running);
    return (await this.told(FULL, count)) ?? this.look(FULL, this.runtime.layers(), count);
  }

  /**
   * Cpu and memory.
   * @param rates false: counters alone, without rates, limits and pressure
   * @throws Error as {@link full}
   */
  async cpuAndMemory(rates: boolean): Promise<PodLook> {
    const wish = rates ? SHORT : COUNTERS;
    const none = (): Promise<PodLook['files']> => Promise.resolve(new Map());
    return (await this.told(wish, none)) ?? this.look(wish, this.runtime.swap(), none);
  }

  /** What the runtime tells of pods; null when it is not to be asked, or tells nothing of them. */
  private async told(
    wish: SurveyWish,
    countFiles: (running: RunningThings) => Promise<PodLook['files']>,
  ): Promise<PodLook | null> {
    if (!this.fromRuntime) return null;
    const asked = {
      listed: listRunning(this.cri).then(async (running) => ({ running, files: await countFiles(running) })),
      usage: listPodUsage(this.cri),
      survey: this.cgroups.survey(NOTHING, wish),
    };
    await Promise.allSettled(Object.values(asked));
    const [{ running, files }, usage] = [await asked.listed, await asked.usage];
    if (usage === null) return null;
    this.toldRates.forget(this.folders.now());
    return { pods: toldPods(running, usage, this.toldRates), survey: await asked.survey, files };
  }

  /**
   * @param figures what the runtime was asked for; it is asked for all when the cgroups do not tell the rest
   * @param countFiles begins before the cgroups are read, which keeps this thread busy while others look at files
   */
  private async look(
    wish: SurveyWish,
    figures: Promise<RuntimeFigures>,
    countFiles: (running: RunningThings) => Promise<PodLook['files']>,
  ): Promise<PodLook> {
    const asked = {
      surveyed: listRunning(this.cri).then(async (running) => {
        const [files, survey] = await Promise.all([countFiles(running), this.cgroups.survey(running, wish)]);
        return { running, files, survey };
      }),
      figures,
    };
    // Of two failures the first in this order is told, not the first in time.
    await Promise.allSettled(Object.values(asked));
    const { running, files, survey } = await asked.surveyed;
    const { stats, fresh } = await asked.figures;
    let told = stats ?? Array.from(running.containers.values(), withoutFigures);
    if (!fresh && !isEnough(running, told, survey)) told = (await this.runtime.all()).stats;
    return { pods: measuredPods(running, told), survey, files };
  }

  private async countFiles({ containers, sandboxes }: RunningThings): Promise<ReadonlyMap<string, PodFiles>> {
    const names = new Map<string, string[]>();
    for (const { podSandboxId, metadata } of containers.values()) {
      const own = names.get(podSandboxId);
      if (own === undefined) names.set(podSandboxId, [metadata?.name ?? '']);
      else own.push(metadata?.name ?? '');
    }
    const found = [...names].map(async ([id, own]) => {
      const sandbox = sandboxes.get(id);
      return sandbox === undefined ? [] : [[id, await countPodFiles(this.folders, sandbox.metadata, own)] as const];
    });
    return new Map((await Promise.all(found)).flat());
  }
}

/** Figures that are not all of now do: they are of every container that is told, and its cgroup tells the others. */
function isEnough(running: RunningThings, told: readonly CriContainerStats[], survey: CgroupSurvey): boolean {
  const known = new Set(told.map(({ attributes }) => attributes?.id));
  for (const { id, podSandboxId } of running.containers.values()) {
    if (running.sandboxes.has(podSandboxId) && !(known.has(id) && survey.isWhole(id))) return false;
  }
  return true;
}
