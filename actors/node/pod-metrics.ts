import { lossCounter } from '../record/journal/losses.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../machines/protocol/messages.ts';
import { trackedPods } from '../../machines/supervisor/pod-table.ts';
import type { SupervisorContext } from '../../machines/supervisor/supervisor-context.ts';
import type { TrackedPod } from '../../machines/supervisor/tracked-pod.ts';
import type { FeatureGates } from '../configure/configuration/feature-gates.ts';
import { FEATURE_GATES } from '../configure/configuration/feature-gate-table.ts';
import { KUBERNETES_VERSION, agentVersion } from '../configure/configuration/version.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import { wantedPlugins } from '../record/metrics/volume-plugins.ts';
import type { PodStore } from '../pods/store/pod-store.ts';

const LIFECYCLES = ['sync', 'terminating', 'terminated'] as const;
/** `config` and `static` of `kubelet_working_pods`; what only the runtime knows says nothing of its source. */
const WORKING = [
  ['desired', ''],
  ['desired', 'true'],
  ['orphan', ''],
  ['orphan', 'true'],
  ['runtime_only', 'unknown'],
] as const;

/** Pods in figures, as kubelet's HandlePodCleanups counts them. */
export class PodMetrics {
  private readonly metrics: Metrics;
  private readonly orphans = new Set<string>();
  /** Volumes that are set up, by shard and plugin. */
  private readonly volumes = new Map<number, Readonly<Record<string, number>>>();
  /** Bytes of the supervisor's journal that are counted already. */
  private journaled = 0;
  private readonly newLosses = lossCounter();

  constructor(metrics: Metrics) {
    this.metrics = metrics;
    metrics.orphanedRuntimePods.inc(0);
    for (const value of ['', 'true']) metrics.restartedPods.inc({ static: value }, 0);
  }

  /** A message on its way to a pod's actor. An orphan counts once, also when its worker is replaced. */
  posted(uid: string, message: PodMessage): void {
    if (message.type !== 'pod.start' || message.source !== 'orphan' || this.orphans.has(uid)) return;
    this.orphans.add(uid);
    this.metrics.orphanedRuntimePods.inc();
  }

  /** A pod's actor has ended; `tracked` as it stood before the supervisor heard of it. */
  finished(tracked: TrackedPod | undefined): void {
    if (tracked === undefined) return;
    this.orphans.delete(tracked.uid);
    if (tracked.comeback !== null) this.metrics.restartedPods.inc({ static: staticLabel(tracked) });
  }

  /** How many volumes of each plugin are set up in a shard's pods. */
  mounted(shard: number, counts: Readonly<Record<string, number>>): void {
    this.volumes.set(shard, counts);
  }

  /**
   * Brings the gauges up to date, before a scrape.
   *
   * @param managed plugins of the volumes that the main thread sets up
   */
  scrape(
    supervisor: { context: SupervisorContext; journalBytes: number },
    store: PodStore,
    managed: { wanted: readonly string[]; there: readonly string[] } = { wanted: [], there: [] },
  ): void {
    const { metrics } = this;
    const { pods } = supervisor.context;
    metrics.journalBytes.inc(supervisor.journalBytes - this.journaled);
    this.journaled = supervisor.journalBytes;
    this.newLosses((lines, stalls) => {
      metrics.journalLostLines.inc(lines);
      metrics.journalStalls.inc(stalls);
    });
    const working = new Map<string, number>();
    const desired: Record<string, number> = { '': 0, true: 0 };
    const active: Record<string, number> = { '': 0, true: 0 };
    let ephemeral = 0;
    const wanted = new Map<string, number>();
    for (const tracked of trackedPods(pods)) {
      const lifecycle = lifecycleOf(store.reportOf(tracked.uid)?.state ?? '');
      const isStatic = staticLabel(tracked);
      const config = configOf(tracked);
      const key = `${lifecycle}/${config}/${config === 'runtime_only' ? 'unknown' : isStatic}`;
      if (tracked.phase === 'started') working.set(key, (working.get(key) ?? 0) + 1);
      if (config !== 'desired' && tracked.comeback === null) continue;
      desired[isStatic] = (desired[isStatic] ?? 0) + 1;
      if (lifecycle !== 'terminated') active[isStatic] = (active[isStatic] ?? 0) + 1;
      if (lifecycle !== 'terminated') for (const plugin of wantedPlugins(tracked.pod)) add(wanted, plugin, 1);
      ephemeral += tracked.pod.spec?.ephemeralContainers?.length ?? 0;
    }
    for (const [config, value] of WORKING) {
      for (const lifecycle of LIFECYCLES) {
        metrics.workingPods.set(
          { lifecycle, config, static: value },
          working.get(`${lifecycle}/${config}/${value}`) ?? 0,
        );
      }
    }
    for (const value of ['', 'true']) {
      metrics.desiredPods.set({ static: value }, desired[value] ?? 0);
      metrics.activePods.set({ static: value }, active[value] ?? 0);
    }
    metrics.managedEphemeralContainers.set(ephemeral);
    for (const plugin of managed.wanted) add(wanted, plugin, 1);
    this.totalVolumes(wanted, managed.there);
  }

  private totalVolumes(wanted: ReadonlyMap<string, number>, managed: readonly string[]): void {
    const { totalVolumes } = this.metrics;
    const there = new Map<string, number>();
    for (const counts of this.volumes.values()) for (const [plugin, n] of Object.entries(counts)) add(there, plugin, n);
    for (const plugin of managed) add(there, plugin, 1);
    totalVolumes.reset();
    for (const [plugin_name, n] of there) totalVolumes.set({ plugin_name, state: 'actual_state_of_world' }, n);
    for (const [plugin_name, n] of wanted) totalVolumes.set({ plugin_name, state: 'desired_state_of_world' }, n);
  }
}

/** What does not change while the agent runs: build, feature gates, cgroup version, node name. */
export function setNodeFacts(
  metrics: Metrics,
  facts: { nodeName: string; cgroupVersion: 1 | 2; featureGates: FeatureGates },
): void {
  metrics.nodeName.set({ node: facts.nodeName }, 1);
  metrics.cgroupVersion.set(facts.cgroupVersion);
  const [major = '', minor = ''] = KUBERNETES_VERSION.slice(1).split('.');
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  // Nothing was compiled by Go here; the labels are kept, so that queries which name them go on working.
  const build = {
    git_commit: '',
    git_tree_state: '',
    build_date: '',
    go_version: '',
    compiler: `node ${process.version}`,
  };
  metrics.buildInfo.set({ major, minor, git_version: agentVersion(), platform: `linux/${architecture}`, ...build }, 1);
  for (const [name, [stage]] of Object.entries(FEATURE_GATES)) {
    metrics.featureEnabled.set({ name, stage: stage === 'GA' ? '' : stage }, facts.featureGates.enabled(name) ? 1 : 0);
  }
}

function add(counts: Map<string, number>, key: string, n: number): void {
  counts.set(key, (counts.get(key) ?? 0) + n);
}

function lifecycleOf(state: string): (typeof LIFECYCLES)[number] {
  if (state.startsWith('terminating')) return 'terminating';
  return state.startsWith('terminated') ? 'terminated' : 'sync';
}

/** Does a source still name it? One with a deletion timestamp is terminating, but its source names it. */
function configOf(tracked: TrackedPod): 'desired' | 'orphan' | 'runtime_only' {
  if (tracked.source === 'orphan') return 'runtime_only';
  return tracked.terminating && tracked.pod.metadata?.deletionTimestamp === undefined ? 'orphan' : 'desired';
}

function staticLabel({ pod, source }: { pod: Pod; source: TrackedPod['source'] }): '' | 'true' {
  return source === 'api' ||
    (source === 'orphan' && pod.metadata?.annotations?.['kubernetes.io/config.source'] === undefined)
    ? ''
    : 'true';
}
