import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { PodAllocations } from '../../../actors/resources/admission/pod-allocations.ts';
import type { ApiClient } from '../../../actors/cluster/api/api-client.ts';
import { EventRecorder } from '../../../actors/cluster/events/event-recorder.ts';
import { ImagePuller } from '../../../actors/runtime/images/image-puller.ts';
import { restoreMemory } from '../../../actors/record/journal/restore-memory.ts';
import type { Metrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { MirrorPods } from '../../../actors/cluster/mirror-pods/mirror-pods.ts';
import type { Cluster } from '../../../actors/node/cluster.ts';
import { ClockWatch } from '../../../actors/node/clock-watch.ts';
import { handleFromShard } from '../../../actors/node/from-shard.ts';
import type { FromShardParts } from '../../../actors/node/from-shard.ts';
import { NodeState } from '../../../actors/node/node-state.ts';
import { PodIntake } from '../../../actors/node/pod-intake.ts';
import { watchPodsOfNode } from '../../../actors/node/pods-of-node.ts';
import { Resync } from '../../../actors/node/resync.ts';
import { staticLife } from '../../../actors/node/static-life.ts';
import { listenToEvents } from '../../../actors/runtime/pleg/evented-pleg.ts';
import type { ListedPod } from '../../../actors/runtime/pleg/observe-pod.ts';
import { Pleg } from '../../../actors/runtime/pleg/pleg.ts';
import { EVENTED_RATE, GENERIC_RATE } from '../../../actors/runtime/pleg/relist-rate.ts';
import type { RelistRate } from '../../../actors/runtime/pleg/relist-rate.ts';
import { RuntimeWatch } from '../../../actors/runtime/runtime-state/runtime-watch.ts';
import type { FromShard } from '../../../actors/pods/shard/shard-protocol.ts';
import { parseManifest } from '../../../actors/pods/sources/parse-manifest.ts';
import { startPodSources } from '../../../actors/pods/sources/pod-sources.ts';
import type { PodSources } from '../../../actors/pods/sources/pod-sources.ts';
import { PodStore } from '../../../actors/pods/store/pod-store.ts';
import { StatusManager } from '../../../actors/cluster/status/status-manager.ts';
import { Supervisor } from '../../../actors/pods/supervisor/supervisor.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { ObservedPod } from '../../../machines/protocol/observed.ts';
import { trackedPod } from '../../../machines/supervisor/pod-table.ts';
import type { Plan } from '../draw/plan.ts';
import type { Edges } from './edges.ts';
import { NODE_NAME, STATIC_ORIGIN } from './node-settings.ts';
import type { Owner } from './virtual-time.ts';
import { PORT_MS, Worker } from './worker.ts';

/** What one life of the agent is made from. */
export interface AgentOptions {
  /** This life of it. */
  owner: Owner;
  edges: Edges;
  plan: Plan;
  settings: NodeSettings;
  journalDir: string;
  /** Where the agent keeps its checkpoints. */
  stateDir: string;
  log: Logger;
  metrics: Metrics;
  mortal: (effect: Effect) => 'before' | 'after' | null;
  /** The agent has died of itself. */
  died: () => void;
  /** Something that must never happen, seen by the agent itself. */
  complain: (problem: string) => void;
}

/** Time until a dead worker is noticed and until the next one has loaded, ms. */
const NOTICED_MS = 700;
const LOADED_MS = 200;
/** Time between two rounds of housekeeping, ms (kubelet housekeepingPeriod). */
const HOUSEKEEPING_MS = 2_000;

/**
 * One life of the agent, wired as `actors/node` does (`wire-parts.ts`, `start-order.ts`, `cluster.ts`): its real parts over the world's edges. What
 * is left out: servers, metrics of workers, admission, the Node object and lease, events to the API, objects and tokens.
 */
export class Agent {
  readonly owner: Owner;
  readonly store = new PodStore();
  readonly supervisor: Supervisor;
  readonly pleg: Pleg;
  private readonly options: AgentOptions;
  private readonly workers: Worker[] = [];
  private readonly nodeState: NodeState;
  private readonly runtimeWatch: RuntimeWatch;
  private readonly resync: Resync;
  private readonly mirrors: MirrorPods;
  private readonly status: StatusManager;
  private readonly intake: PodIntake;
  private readonly parts: FromShardParts;
  private readonly reflector: ReturnType<typeof watchPodsOfNode>;
  private sources: PodSources | null = null;
  private listed: ReadonlyMap<string, ListedPod> = new Map();
  private workersMade = 0;
  private registered = false;

  constructor(options: AgentOptions) {
    this.options = options;
    const { edges, plan, settings, journalDir, log, metrics } = options;
    const { time } = edges;
    this.owner = options.owner;
    const now = (): number => time.wall();
    const cri = edges.runtime.client(this.owner);
    const api = edges.api.client(this.owner);
    const remembered = restoreMemory(journalDir);
    const journal = { dir: journalDir, agent: 'simulated', maxBytes: 2 ** 30, log };
    const events = new EventRecorder(log);
    const puller = new ImagePuller({
      cri,
      serialize: plan.node.serializePulls,
      maxParallel: null,
      qps: 0,
      burst: 0,
      records: null,
      metrics,
      log,
    });
    this.pleg = new Pleg({
      cri,
      rate: GENERIC_RATE,
      log,
      metrics,
      now,
      onPod: (observed) => this.looked(observed),
      onFailure: () => this.runtimeWatch.suspect(),
      onRelist: (pods) => (this.listed = pods),
    });
    this.runtimeWatch = new RuntimeWatch({ cri, log, onChange: () => this.nodeState.runtimeChanged() });
    this.supervisor = new Supervisor({
      shards: plan.node.shards,
      log,
      now,
      store: this.store,
      runtimeState: () => this.runtimeWatch.state,
      held: (uid) => this.pleg.holds(uid),
      observe: (uid) => this.pleg.observe(uid),
      remembered: (uid) => {
        const memory = remembered.get(uid)?.memory ?? null;
        const pod = trackedPod(this.supervisor.context.pods, uid)?.pod;
        return pod === undefined ? memory : allocations.remembered(pod, memory);
      },
      journal,
      post: (shard, uid, message) => this.workers[shard]?.post({ t: 'pod', uid, message }),
    });
    this.nodeState = new NodeState({
      nodeName: NODE_NAME,
      agent: 'simulated',
      cluster: plan.node.standalone !== true,
      log,
      now,
      facts: () => ({
        runtime: this.runtimeWatch.state,
        plegError: this.pleg.unhealthy(),
        sourcesReady: this.supervisor.context.sourcesReady,
        registered: this.registered,
      }),
      carryOut: (order) => {
        time.busy();
        if (order.type === 'pods.observe') this.pleg.observeAll();
        if (order.type !== 'pods.tellRuntime') return;
        const { runtimeReady, networkReady } = order;
        this.supervisor.broadcast({ type: 'runtime.state', at: now(), runtimeReady, networkReady });
      },
      journal: { ...journal, nodeName: NODE_NAME },
    });
    this.status = time.as(this.owner, true, () => new StatusManager({ api, nodeName: NODE_NAME, log, now }));
    this.mirrors = new MirrorPods({
      api,
      nodeName: NODE_NAME,
      log,
      now,
      node: () => ({ metadata: { name: NODE_NAME, uid: 'node-uid' } }),
      lifeOf: (uid) => staticLife(trackedPod(this.supervisor.context.pods, uid), this.store.reportOf(uid)),
    });
    const allocations = new PodAllocations({
      rootDir: options.stateDir,
      settings,
      log,
      now,
      metrics,
      record: (event) => events.record(event),
      fits: () => ({ admit: true }),
      recount: () => undefined,
      sourcesReady: () => this.sources?.allSourcesReady() ?? false,
      changed: () => undefined,
    });
    const cluster = this.cluster();
    this.intake = new PodIntake({
      supervisor: this.supervisor,
      cluster,
      admission: null,
      allocations,
      metrics,
      now,
      sources: () => {
        if (this.sources === null) throw new Error('the sources speak before they are started');
        return this.sources;
      },
    });
    this.parts = {
      supervisor: this.supervisor,
      pool: { post: (shard: number, message: Parameters<Worker['post']>[0]) => this.workers[shard]?.post(message) },
      store: this.store,
      events,
      pleg: this.pleg,
      puller,
      userNamespaces: { release: () => undefined },
      metrics,
      podMetrics: { finished: () => undefined },
      intake: this.intake,
      cluster,
      log,
      now,
    } as unknown as FromShardParts;
    this.reflector = watchPodsOfNode({
      api,
      nodeName: NODE_NAME,
      log,
      onList: (pods) => {
        this.status.setApiPods(pods);
        this.mirrors.setApi(pods);
      },
      onPod: (pod, gone) => {
        const uid = pod.metadata?.uid ?? '';
        for (const part of [this.status, this.mirrors]) {
          if (gone) part.apiPodGone(uid);
          else part.apiPod(pod);
        }
      },
      onPods: (pods) => this.sources?.setPods('api', pods),
    });
    this.ticking(this.pleg);
    this.ticking(this.runtimeWatch);
    this.resync = new Resync({ supervisor: this.supervisor, periodMs: plan.node.syncFrequencyMs, now });
  }

  /**
   * The regular looks of a part are ticks, also after one that found something to do; but not rare ones, which may be the
   * first to see what no event told.
   */
  private ticking(part: object): void {
    const { time } = this.options.edges;
    const methods = part as { schedule: () => void; rate?: RelistRate };
    const schedule = methods.schedule.bind(part);
    methods.schedule = () => time.as(this.owner, methods.rate !== EVENTED_RATE, schedule);
  }

  /** Starts as the real node does; the first steps take some virtual time. */
  start(): void {
    const { time } = this.options.edges;
    time.as(this.owner, false, () => {
      void this.begin().catch((error: unknown) => this.options.complain(`the agent did not start: ${String(error)}`));
    });
  }

  /** When the next regular sync of a pod is due, ms since the start of the simulation: jumps must not leave it out. */
  nextDue(): number {
    const due = (this.resync as unknown as { due: Map<string, number> }).due;
    let first = Infinity;
    for (const at of due.values()) first = Math.min(first, at);
    return first - this.options.edges.time.wallOffset;
  }

  /** So many ms passed in which each relist would have seen what the last one saw. */
  jumped(ms: number): void {
    const pleg = this.pleg as unknown as { lastRelist: number };
    if (pleg.lastRelist !== 0) pleg.lastRelist += ms;
  }

  /** Static pods' files have changed. */
  readFiles(): void {
    const { edges } = this.options;
    edges.time.after(50, this.owner, () => this.takeFiles(), false);
  }

  /** Objects that volumes of this pod show have changed. */
  refresh(uid: string): void {
    this.supervisor.tell(uid, { type: 'pod.refresh', at: this.options.edges.time.wall() });
  }

  /** It is told to end, and says so; to be killed right after, as its workers end when it does. */
  tellEnd(): void {
    if (this.owner.alive) this.nodeState.stop();
  }

  /** `kill -9`. Its journal stays as it is; `torn`: half a line stands at its end. */
  kill(torn: boolean): void {
    const { edges, journalDir } = this.options;
    if (!this.owner.alive) return;
    this.owner.alive = false;
    for (const worker of this.workers) worker.kill();
    this.supervisor.close();
    this.nodeState['journal']?.close();
    edges.runtime.hangUp(this.owner);
    edges.api.hangUp(this.owner);
    edges.tell({ f: 'agent', change: 'crashed' });
    if (!torn) return;
    const last = readdirSync(journalDir)
      .filter((name) => name.startsWith('shard-00-'))
      .sort()
      .at(-1);
    if (last !== undefined) appendFileSync(join(journalDir, last), '{"r":"step","n":9');
  }

  /** A worker thread dies; main notices and starts another. */
  killWorker(shard: number): void {
    const { edges } = this.options;
    const worker = this.workers[shard];
    if (worker === undefined || !this.owner.alive || !worker.owner.alive) return;
    worker.kill();
    edges.tell({ f: 'worker', change: 'crashed', shard });
    edges.time.after(
      NOTICED_MS,
      this.owner,
      () => {
        this.launch(shard);
        edges.time.after(LOADED_MS, this.owner, () => this.replaced(shard), false);
      },
      false,
    );
  }

  private async begin(): Promise<void> {
    const { edges, plan, log, metrics } = this.options;
    const { time } = edges;
    edges.tell({ f: 'agent', change: 'started' });
    for (let shard = 0; shard < plan.node.shards; shard++) this.launch(shard);
    await time.as(this.owner, true, () => this.runtimeWatch.start());
    await time.as(this.owner, true, () => this.pleg.start());
    time.as(this.owner, true, () => {
      this.nodeState.watch();
      if (plan.faults.some(({ kind }) => kind === 'clock')) this.watchClock();
      this.resync.start();
      this.housekeeping();
    });
    time.busy();
    if (plan.node.evented) {
      const options = {
        cri: edges.runtime.client(this.owner),
        log,
        metrics,
        now: () => time.wall(),
        onEvent: (uid: string | null) => (uid === null ? void this.pleg.relist() : this.pleg.observe(uid)),
        onConnected: (connected: boolean) => {
          time.as(this.owner, true, () => this.pleg.setRate(connected ? EVENTED_RATE : GENERIC_RATE));
          if (!connected) this.runtimeWatch.suspect();
        },
      };
      void listenToEvents(options, new AbortController().signal);
    }
    this.sources = startPodSources({
      otherSources: plan.node.standalone === true ? ['file'] : ['file', 'api'],
      fileCheckFrequencyMs: 20_000,
      httpCheckFrequencyMs: 20_000,
      nodeName: NODE_NAME,
      log,
      now: () => time.wall(),
      onUpdate: (update) => this.intake.take(update),
      onReadyChange: () => {
        this.supervisor.take({ type: 'sourcesReady', at: time.wall() });
        this.intake.tellStatics();
      },
      onError: () => undefined,
    });
    this.nodeState.look();
    this.takeFiles();
    if (plan.node.standalone === true) return;
    this.reflector.start();
    void this.register(edges.api.client(this.owner));
  }

  /** As long as the API server has not answered it cannot have the node's object. */
  private async register(api: ApiClient): Promise<void> {
    const { time } = this.options.edges;
    try {
      await api.request({ method: 'GET', on: { group: '', version: 'v1', resource: 'nodes' }, name: NODE_NAME });
      this.registered = true;
      this.nodeState.look();
    } catch {
      time.after(1_000, this.owner, () => void this.register(api), false);
    }
  }

  private watchClock(): void {
    const { log, edges } = this.options;
    const now = (): number => edges.time.wall();
    new ClockWatch({
      log,
      now,
      steady: () => edges.time.now,
      onSetBack: (byMs) => {
        edges.time.busy();
        this.supervisor.broadcast({ type: 'clock.steppedBack', at: now(), byMs });
      },
    });
  }

  private takeFiles(): void {
    const pods = this.options.edges.files().flatMap((text) => {
      const { pods: parsed, errors } = parseManifest(text, STATIC_ORIGIN);
      for (const error of errors) this.options.complain(`a manifest of the workload is wrong: ${error.message}`);
      return parsed;
    });
    this.sources?.setPods('file', pods);
  }

  private housekeeping(): void {
    const { host, time } = this.options.edges;
    const alive = (uid: string): boolean => this.supervisor.tracks(uid) || this.listed.has(uid);
    time.after(HOUSEKEEPING_MS, this.owner, () => {
      const ready = (this.sources?.allSourcesReady() ?? false) && this.pleg.unhealthy() === null;
      if (ready && host.holdsOthersThan(alive)) {
        time.busy();
        host.sweep(alive);
        time.as(this.owner, true, () => this.housekeeping());
      } else this.housekeeping();
    });
  }

  /** What PLEG saw is told; it can come late, twice or after what it saw later. */
  private looked(observed: ObservedPod): void {
    const { time, faults, random } = this.options.edges;
    time.busy();
    const take = (): void => this.supervisor.take({ type: 'seen', at: time.wall(), observed });
    const fault = faults.strikes('looks');
    if (fault === undefined || fault.how === 'twice') take();
    if (fault === undefined) return;
    time.after(random.between(100, fault.how === 'late' ? 8_000 : 3_000), this.owner, take, false);
  }

  private launch(shard: number): void {
    const { edges, settings, journalDir, log, mortal } = this.options;
    const worker: Worker = new Worker({
      name: `${this.owner.name}/shard-${shard}.${++this.workersMade}`,
      shard,
      edges,
      settings,
      journalDir,
      log,
      send: (message) => edges.time.after(PORT_MS, this.owner, () => this.take(shard, message), false),
      mortal,
      die: () => this.options.died(),
    });
    this.workers[shard] = worker;
  }

  private replaced(shard: number): void {
    this.supervisor.take({ type: 'shardReplaced', at: this.options.edges.time.wall(), shard });
    for (const pod of this.supervisor.started()) if (pod.shard === shard) this.pleg.observe(pod.uid);
  }

  private take(shard: number, message: FromShard): void {
    const { tell } = this.options.edges;
    if (message.t === 'fault') this.options.complain(`a machine threw: ${message.message}`);
    if (message.t === 'report') {
      const tracked = trackedPod(this.supervisor.context.pods, message.report.uid);
      if (tracked !== undefined)
        tell({ f: 'report', uid: tracked.uid, report: message.report, pod: tracked.pod, source: tracked.source });
    }
    if (message.t === 'finished') tell({ f: 'finished', uid: message.uid });
    handleFromShard(this.parts, shard, message);
  }

  /** The part of {@link Cluster} that the intake and the shards' messages need. */
  private cluster(): Cluster {
    const starts = { pullBegan: () => undefined, pullEnded: () => undefined };
    return {
      starts,
      podWanted: () => undefined,
      podGone: (uid: string) => this.status.forget(uid),
      staticPods: (...[pods, complete]: Parameters<Cluster['staticPods']>) => this.mirrors.setStatic(pods, complete),
      reported: (...[pod, source, report]: Parameters<Cluster['reported']>) => {
        this.status.report({ pod, source, report });
        if (source !== 'api') this.mirrors.reported(report.state);
      },
    } as unknown as Cluster;
  }
}
