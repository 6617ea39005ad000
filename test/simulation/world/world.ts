import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import type { Metrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { checkScript } from '../../../cri/sim/read-script.ts';
import { containerSchema } from '../../../cri/sim/script.ts';
import type { ContainerBehaviour, ExecResult } from '../../../cri/sim/script.ts';
import type { ContainerRecord } from '../../../cri/sim/records.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { Plan } from '../draw/plan.ts';
import { Agent } from './agent.ts';
import type { AgentOptions } from './agent.ts';
import { ApiEdge } from './api-edge.ts';
import { NodeApiEdge } from './node-api-edge.ts';
import type { Edges } from './edges.ts';
import type { Fact } from './facts.ts';
import { FaultClock } from './fault-clock.ts';
import { HostEdge } from './host-edge.ts';
import { IMAGE_SCRIPT } from './images-of-world.ts';
import { JournalDisk } from './journal-disk.ts';
import { LogindOfWorld } from './logind-edge.ts';
import { NODE_NAME, nodeSettings, ROOT_DIR } from './node-settings.ts';
import { PluginsEdge } from './plugins-edge.ts';
import { Random } from './random.ts';
import { RuntimeEdge } from './runtime-edge.ts';
import { scheduleFaults } from './schedule-faults.ts';
import { StorageEdge } from './storage/storage-edge.ts';
import { UsageEdge } from './usage-edge.ts';
import { VirtualTime } from './virtual-time.ts';
import { listenToSteps } from './watched-steps.ts';
import { Workload } from './workload.ts';

/** Where a run keeps its files: the journals of each time the agent had one, and its checkpoints. */
export interface WorldOptions {
  plan: Plan;
  dir: string;
  /** Jump over times in which nothing can happen; true by default. */
  jumps?: boolean;
  onFact: (fact: Fact, world: World) => void;
  onViolation: (rule: string, problem: string, world: World) => void;
}

/** How long the machine takes to come up again, ms. */
const BOOT_MS = 30_000;

let metrics: Metrics | null = null;

/** Nothing comes of it that the runtime's lists show: a probe, an event. */
function isUnseen({ type, key }: Effect): boolean {
  return type === 'event.Record' || key.startsWith('probe/');
}

/** The simulated node with all around it, for one run. */
export class World {
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly faults: FaultClock;
  readonly runtime: RuntimeEdge;
  readonly host: HostEdge;
  readonly api: ApiEdge;
  readonly workload: Workload;
  readonly usage: UsageEdge;
  readonly logind: LogindOfWorld;
  readonly plugins: PluginsEdge;
  readonly storage: StorageEdge | null;
  /** Folders that hold a journal each, oldest first. */
  readonly journals: string[];
  /** The living agent, null while there is none. */
  agent: Agent | null = null;
  readonly edges: Edges;
  /** The pods at the end, in words that do not depend on exact times. */
  outcome: string[] = [];
  private readonly options: WorldOptions;
  private readonly random: Random;
  private readonly stateDir: string;
  private lives = 0;
  private readonly mortalLeft = new Map<object, number>();
  private readonly behaviours = new Map<string, ContainerBehaviour>();
  private readonly disk = new JournalDisk();

  constructor(options: WorldOptions) {
    this.options = options;
    const { plan, dir } = options;
    this.plan = plan;
    const { seed } = plan;
    this.random = new Random(seed).fork('world');
    this.time = new VirtualTime(seed);
    this.time.jumps = options.jumps ?? true;
    this.time.stacks = process.env['SIM_STACKS'] !== undefined;
    this.time.horizon = () => this.agent?.nextDue() ?? Infinity;
    this.time.onError = (owner, error) => {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.violation('nothing is thrown that nobody catches', `${owner.name}: ${text}`);
    };
    this.faults = new FaultClock(plan.faults, this.time, this.random.fork('faults'));
    const tell = (fact: Fact): void => {
      if (fact.f === 'container' && fact.change === 'created') this.giveFate(fact.uid, fact.record);
      this.usage.take(fact);
      options.onFact(fact, this);
    };
    this.runtime = new RuntimeEdge({
      time: this.time,
      faults: this.faults,
      seed,
      plan: checkScript(IMAGE_SCRIPT),
      timeoutMs: 120_000,
      tell,
      exec: (record, command) => this.exec(record, command),
    });
    this.host = new HostEdge({
      ...{ time: this.time, faults: this.faults, rootDir: ROOT_DIR, tell },
      agent: () => this.agent,
      claims: plan.claims !== undefined,
    });
    this.api = new ApiEdge({
      ...{ time: this.time, faults: this.faults, nodeName: NODE_NAME, tell },
      storage: () => this.storage,
    });
    this.storage =
      plan.claims === undefined
        ? null
        : new StorageEdge({
            ...{ plan, time: this.time, faults: this.faults, tell },
            random: new Random(seed).fork('storage'),
            pods: () => this.api.list(),
            mortal: (call) => this.mortal({ type: `csi.${call}` }),
            die: () => this.crash(1_000, false, false),
          });
    this.usage = new UsageEdge({
      ...{ time: this.time, faults: this.faults, runtime: this.runtime, node: plan.node },
      leaksOf: (uid) => this.workload.planOf(uid)?.leaks ?? [],
      pressed: () => this.agent?.isPressed ?? false,
      tell,
    });
    this.logind = new LogindOfWorld(this.time, this.faults, tell);
    this.plugins = new PluginsEdge({
      ...{ time: this.time, faults: this.faults, random: this.random.fork('plugins'), tell },
      on: plan.node.plugins === true,
      preStart: plan.node.preStart === true,
      mortal: (rpc) => this.mortal({ type: `device.${rpc}` }),
      die: () => this.crash(1_000, false, false),
    });
    this.edges = {
      time: this.time,
      faults: this.faults,
      random: this.random.fork('edges'),
      runtime: this.runtime,
      host: this.host,
      api: this.api,
      nodes: new NodeApiEdge(this.time, this.random.fork('nodes')),
      usage: this.usage,
      logind: this.logind,
      plugins: this.plugins,
      storage: this.storage,
      says: (uid, container, kind) => this.says(uid, container, kind),
      files: () => this.workload.files,
      tell,
    };
    this.workload = new Workload(plan.pods, this.edges, {
      onFiles: () => this.agent?.readFiles(),
      onObjects: (uid) => this.agent?.refresh(uid),
    });
    this.stateDir = join(dir, 'state');
    this.journals = [join(dir, 'journal')];
    mkdirSync(this.stateDir, { recursive: true });
    metrics ??= createMetrics({ processMetrics: false });
  }

  /** Runs the whole plan. Virtual time stands in for the globals meanwhile; nothing real is waited for. */
  run(atEnd: () => void): void {
    const draws = this.random.fork('agent');
    const restore = this.time.install(() => draws.next());
    const unmount = this.disk.install();
    listenToSteps((before, message, after, effects) => {
      if (this.time.quiet && !(after.value === before.value && effects.every(isUnseen))) this.time.busy();
      const uid = after.context.pod.metadata?.uid ?? '';
      this.edges.tell({ f: 'step', uid, before, message, after, effects });
    });
    try {
      this.schedule();
      this.startAgent();
      this.time.run(this.plan.endAt);
      this.outcome = outcomeOf(this);
      atEnd();
    } finally {
      this.agent?.kill(false);
      unmount();
      listenToSteps(null);
      restore();
    }
  }

  /** Was anything that agents remember kept from the journal, or taken from it, since then? */
  memoryLostSince(at: number): boolean {
    const { now } = this.time;
    return this.plan.faults.some((fault) => {
      if (fault.kind === 'journal-full') return fault.from <= now && fault.from + fault.for >= at;
      return fault.kind === 'agent-crash' && fault.journalLost && fault.from <= now && fault.from >= at;
    });
  }

  /** Does the API server answer lists from a cache that is behind? */
  get listsLag(): boolean {
    return this.faults
      .all('stale-list')
      .some((fault) => this.time.now >= fault.from && this.time.now < fault.from + fault.for);
  }

  /** Has it done so since then? */
  listsLaggedSince(at: number): boolean {
    const { now } = this.time;
    return this.faults.all('stale-list').some((fault) => fault.from <= now && fault.from + fault.for > at);
  }

  violation(rule: string, problem: string): void {
    this.options.onViolation(rule, problem, this);
  }

  private schedule(): void {
    const { plan, time, faults } = this;
    const at = (ms: number, action: () => void): void => void time.after(ms, time.world, action, false);
    for (const pod of plan.pods) at(pod.at, () => this.workload.create(pod));
    for (const change of plan.changes) at(change.at, () => this.workload.change(change));
    faults.start();
    this.usage.start();
    this.plugins.start();
    this.logind.start(() => this.goDown());
    this.storage?.start();
    scheduleFaults({
      ...{ plan, time, faults, workload: this.workload, runtime: this.runtime, api: this.api, disk: this.disk },
      agent: () => this.agent,
      crash: ({ for: downMs, torn, journalLost }) => this.crash(downMs, torn, journalLost),
      goDown: () => this.goDown(),
    });
  }

  private startAgent(): void {
    const { plan, edges, stateDir } = this;
    if (metrics === null) return;
    const owner = { name: `agent-${++this.lives}`, alive: true };
    const options: AgentOptions = {
      owner,
      edges,
      plan,
      settings: nodeSettings(this.plan.seed, {
        managers: this.plan.node.managers === true,
        roomy: this.plan.node.disks !== undefined,
      }),
      journalDir: this.journals.at(-1) ?? '',
      stateDir,
      log: pino({ level: process.env['SIM_LOG'] ?? 'silent' }),
      metrics,
      mortal: (effect) => this.mortal(effect),
      died: () => this.crash(1_000, false, false),
      complain: (problem) => this.violation('the agent works', problem),
    };
    const agent = this.time.as(owner, false, () => new Agent(options));
    this.agent = agent;
    agent.start();
  }

  private crash(downMs: number, torn: boolean, journalLost: boolean): void {
    const { agent, time } = this;
    if (agent === null) return;
    this.agent = null;
    agent.kill(torn && !journalLost);
    if (journalLost) {
      const last = this.journals.pop() ?? '';
      const kept = `${last}-lost-${this.lives}`;
      renameSync(last, kept);
      this.journals.push(kept, last);
    }
    time.after(downMs, time.world, () => this.startAgent(), false);
  }

  /** The machine goes down with all that runs, and comes up again. */
  private goDown(): void {
    for (const key of this.workload.born) this.workload.disturbed.add(key);
    this.runtime.restart(BOOT_MS, false);
    this.plugins.boot();
    this.storage?.reboot(BOOT_MS);
    this.crash(BOOT_MS, false, false);
  }

  private mortal({ type }: { type: string }): 'before' | 'after' | null {
    const fault = this.faults.strikes(
      'crash-at-effect',
      (each) => each.effect === type && this.mortalLeft.get(each) !== 0,
    );
    if (fault === undefined) return null;
    const left = (this.mortalLeft.get(fault) ?? fault.count) - 1;
    this.mortalLeft.set(fault, left);
    if (left > 0) return null;
    return fault.done ? 'after' : 'before';
  }

  private exec(record: ContainerRecord, command: readonly string[]): ExecResult | undefined {
    const [, kind = ''] = command;
    const yes = this.says(record.sandbox.metadata.uid, record.metadata.name, kind);
    const takes = kind === 'preStop' ? 3_000 : 2;
    return { code: yes ? 0 : 1, stdout: '', stderr: '', takes: { min: takes, max: takes }, times: 1, hang: false };
  }

  private says(uid: string, container: string, kind: string): boolean {
    const bad = this.workload.planOf(uid)?.fates[container]?.bad[kind] ?? [];
    const { now } = this.time;
    return !bad.some(({ from, for: span }) => now >= from && (span === null || now < from + span));
  }

  /** A new container behaves as the plan says for its pod. */
  private giveFate(uid: string, record: ContainerRecord): void {
    const plan = this.workload.planOf(uid);
    const fate = plan?.fates[record.metadata.name];
    if (plan === undefined || fate === undefined) return;
    const key = `${plan.key}/${record.metadata.name}`;
    const behaviour =
      this.behaviours.get(key) ?? containerSchema.parse({ attempts: fate.attempts, onStop: fate.onStop });
    this.behaviours.set(key, behaviour);
    Object.assign(record, { behaviour });
  }
}

function outcomeOf({ agent, api }: World): string[] {
  const shown = new Set(api.list().map(({ metadata }) => `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`));
  return (agent?.store.rows() ?? [])
    .map(
      ({ namespace, name, phase, state }) =>
        `${namespace}/${name} ${phase} ${state} ${shown.has(`${namespace}/${name}`) ? 'shown' : ''}`,
    )
    .sort();
}
