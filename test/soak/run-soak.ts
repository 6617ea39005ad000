import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '../cluster/support/api-objects.ts';
import { waitFor } from '../tools/wait-for.ts';
import { Invariants } from './invariants.ts';
import type { SeenProcess } from './invariants.ts';
import { askAgain, leftOver } from './left-over.ts';
import type { SoakOptions } from './options.ts';
import { containerProcesses, seenContainers } from './outside-view.ts';
import { replayOf } from './replay-check.ts';
import type { Replay } from './replay-check.ts';
import { Samples } from './samples.ts';
import { drawSchedule } from './schedule.ts';
import type { Act, Victim, Workers } from './schedule.ts';
import { STEADY, lacks, podOfShape } from './shapes.ts';
import type { Shape } from './shapes.ts';
import type { Trend } from './slopes.ts';
import type { SoakedNode } from './soaked-node.ts';
import { growing } from './verdict.ts';
import type { Violation } from './violations.ts';
import { Watch } from './watch.ts';

/** What a soak found. */
export interface SoakResult extends SoakOptions {
  created: number;
  deleted: number;
  kills: Record<Victim, number>;
  /** Longest time until all parts answered again, s. */
  longestOutage: Record<Victim, number>;
  /** How often each rule was asked. */
  judged: Record<string, number>;
  violations: Violation[];
  /** Pods that did not become what their spec calls for when all was quiet. */
  unfinished: string[];
  /** What the node still held when all pods were deleted. */
  left: string[];
  /** Containers that the runtime refused to remove until it was started again. */
  refused: string[];
  /** What containerd itself left, which CRI does not tell of. */
  leftByRuntime: string[];
  /** What the journals of all agents of the soak replay to. */
  replay: Replay;
  trends: Record<string, Trend | null>;
  growing: string[];
  /** All readings, one on a line. */
  readings: string;
}

const VICTIMS: readonly Victim[] = ['agent', 'containerd', 'apiServer', 'worker'];
const LOOK_MS = 700;
const SAMPLE_MS = 5_000;
/** Parts that answer again need a moment to find each other, ms. */
const SETTLE_MS = 3_000;
/** For what must come about: longer than the longest of the delays that a crashing container reaches here. */
const PATIENCE_MS = 240_000;
/** For what must go: longer than the longest delay between two tries to remove something. */
const LEFT_MS = 100_000;

/** Runs the schedule against the node, with the rules checked all the while. */
export async function runSoak(lab: SoakedNode, options: SoakOptions, say: (line: string) => void): Promise<SoakResult> {
  const soak = new Soak(lab, options, say);
  return soak.run();
}

class Soak {
  private readonly lab: SoakedNode;
  private readonly options: SoakOptions;
  private readonly say: (line: string) => void;
  private readonly rules = new Invariants();
  private readonly watch: Watch;
  private readonly samples = new Samples();
  private readonly living = new Map<string, Shape>();
  private readonly creating = new Map<string, Promise<void>>();
  private readonly pending = new Set<Promise<void>>();
  private readonly busy = new Set<Victim>();
  private readonly kills: Record<Victim, number> = { agent: 0, containerd: 0, apiServer: 0, worker: 0 };
  private created = 0;
  private deleted = 0;
  private over = false;
  /** No more pods come: what is read now is not like what was read before. */
  private quiet = false;
  private said = 0;

  constructor(lab: SoakedNode, options: SoakOptions, say: (line: string) => void) {
    this.lab = lab;
    this.options = options;
    this.say = say;
    this.watch = new Watch(lab, this.rules);
  }

  async run(): Promise<SoakResult> {
    const { minutes, seed } = this.options;
    const watching = Promise.all([
      this.repeat(LOOK_MS, () => this.look()),
      this.repeat(SAMPLE_MS, () => this.sample()),
    ]);
    let unfinished: string[] = [];
    let left: string[] = [];
    let refused: string[] = [];
    let leftByRuntime: string[] = [];
    try {
      await this.perform(drawSchedule(seed, minutes));
      this.quiet = true;
      this.say(`quiet: ${this.living.size} pods are left`);
      unfinished = await this.untilNone('every pod to be what it is to be', () => this.unfinished(), PATIENCE_MS);
      left = (await this.livingOnly()).map((what) => `while pods lived: ${what}`);
      await Promise.all([...this.living.keys()].map((name) => this.remove(name)));
      const none = async (): Promise<string[]> => (await leftOver(this.lab, new Set())).agent;
      let last = await this.untilNone('nothing to be left', none, LEFT_MS);
      if (last.length > 0) {
        const asked = await askAgain(this.lab, new Set());
        refused = asked.refused;
        left.push(...asked.forgotten.map((what) => `forgotten container: ${what}`));
        this.say(`containerd refuses to remove ${refused.length} containers, and is started again`);
        await this.kill('containerd', 'all');
        last = await this.untilNone('nothing to be left', none, LEFT_MS);
      }
      left.push(...last);
      leftByRuntime = (await leftOver(this.lab, new Set())).runtime;
    } finally {
      this.over = true;
      await watching;
    }
    await this.lab.node.agent.terminate();
    const replay = await replayOf(`${this.lab.node.agentRoot}/journal`);
    const trends = this.samples.trends();
    const { judged, violations } = this.rules.findings;
    const longest = VICTIMS.map((v) => [v, Math.round(this.rules.up.longest(v) / 100) / 10]);
    return {
      ...{ minutes, seed, created: this.created, deleted: this.deleted, kills: this.kills },
      ...{ longestOutage: Object.fromEntries(longest) as Record<Victim, number> },
      ...{ judged, violations, unfinished, left, refused, leftByRuntime, replay },
      ...{ trends, growing: growing(trends, minutes), readings: this.samples.text() },
    };
  }

  /** Begins each act at its time, and waits until all of them have ended. */
  private async perform(acts: readonly Act[]): Promise<void> {
    const began = performance.now();
    for (const act of acts) {
      await sleep(Math.max(0, act.at - (performance.now() - began)));
      if (this.lab.ending) return;
      const work =
        act.do === 'create'
          ? this.create(act.name, act.shape, act.graceSeconds)
          : act.do === 'delete'
            ? this.remove(act.name)
            : this.kill(act.victim, act.workers);
      if (act.do === 'create') this.creating.set(act.name, work);
      const task: Promise<void> = work
        .catch((error: unknown) => this.say(`${JSON.stringify(act)}: ${String(error)}`))
        .finally(() => this.pending.delete(task));
      this.pending.add(task);
    }
    await Promise.all(this.pending);
  }

  private async create(name: string, shape: Shape, graceSeconds: number): Promise<void> {
    const { space, node } = this.lab;
    this.rules.book.create(name, shape, graceSeconds);
    await waitFor(`pod ${name} to be created`, async () => {
      // The answer to an earlier try may have been lost with the API server.
      if ((await space.pod(name)) === undefined) await space.create(podOfShape(shape, name, node.name, graceSeconds));
      return true;
    });
    this.living.set(name, shape);
    this.created++;
  }

  private async remove(name: string): Promise<void> {
    const { space } = this.lab;
    await this.creating.get(name);
    this.creating.delete(name);
    await waitFor(`pod ${name} to be deleted`, async () => {
      const pod = await space.pod(name);
      if (pod !== undefined && pod.metadata?.deletionTimestamp === undefined) {
        this.rules.book.deleting(name, Date.now());
        await space.remove('Pod', name);
      }
      this.rules.book.deleted(name, Date.now());
      return true;
    });
    this.living.delete(name);
    this.deleted++;
  }

  private async kill(victim: Victim, workers: Workers): Promise<void> {
    // who is still on its way up is not killed again: its supervisor would only wait longer each time
    if (this.busy.has(victim) || (victim === 'worker' && this.busy.has('agent'))) return;
    this.busy.add(victim);
    const { up } = this.rules;
    try {
      this.kills[victim]++;
      this.say(`kill ${victim}${victim === 'worker' ? ` (${workers})` : ''}`);
      const before = victim === 'agent' ? await this.runningProcesses() : null;
      up.down(victim, Date.now());
      await this.lab.kill(victim, workers);
      await sleep(SETTLE_MS);
      up.up(victim, Date.now());
      if (before !== null && !this.lab.ending) await this.compareProcesses(before);
    } finally {
      up.up(victim, Date.now());
      this.busy.delete(victim);
    }
  }

  /**
   * Processes of what runs, by the runtime's own word: a start that is under way ends with the agent that asked for it, since
   * containerd breaks it off. Null while the runtime is away.
   */
  private async runningProcesses(): Promise<Map<string, SeenProcess> | null> {
    const seen = await seenContainers(this.lab.node).catch(() => null);
    if (seen === null) return null;
    const running = new Set(seen.filter((c) => c.running).map((c) => c.id));
    const processes = await containerProcesses(this.lab.node.cgroupRoot);
    return new Map([...processes].filter(([id]) => running.has(id)));
  }

  /** Who ran before an agent was killed runs on: the same process, unless somebody has deleted its pod since. */
  private async compareProcesses(before: ReadonlyMap<string, SeenProcess>): Promise<void> {
    const [seen, now] = await Promise.all([
      seenContainers(this.lab.node),
      containerProcesses(this.lab.node.cgroupRoot),
    ]);
    // read after the processes: a pod that is deleted between the two reads is left out, not blamed
    const pods = await this.watch.pods();
    const judged = new Set(
      pods
        .filter((p) => p.metadata?.deletionTimestamp === undefined && STEADY.has(shapeOf(p)))
        .map((p) => p.metadata?.uid ?? ''),
    );
    const init = new Set(['i', 'j']);
    const after = new Map<string, SeenProcess | null>();
    for (const c of seen)
      if (judged.has(c.podUid) && before.has(c.id) && !init.has(c.name)) after.set(c.id, now.get(c.id) ?? null);
    this.rules.processes(before, after);
  }

  private async look(): Promise<void> {
    const count = await this.watch.look();
    if (count !== null) this.samples.containers(count);
    const { violations } = this.rules.findings;
    for (const { rule, what } of violations.slice(this.said)) this.say(`VIOLATION ${rule}: ${what}`);
    this.said = violations.length;
  }

  private async sample(): Promise<void> {
    if (this.quiet) return;
    for (const part of ['actorlet', 'containerd'] as const) await this.samples.process(part, this.lab.watched(part));
    await this.samples.machine(this.lab.node);
  }

  private async repeat(periodMs: number, what: () => Promise<void>): Promise<void> {
    while (!this.over && !this.lab.ending) {
      await what().catch((error: unknown) => this.say(`a look failed: ${String(error)}`));
      await sleep(periodMs);
    }
  }

  private async unfinished(): Promise<string[]> {
    const pods = new Map((await this.watch.pods()).map((p) => [p.metadata?.name ?? '', p]));
    return [...this.living].flatMap(([name, shape]) => {
      const pod = pods.get(name);
      const problem = pod === undefined ? 'gone' : lacks(shape, pod);
      return problem === '' ? [] : [`${name} (${shape}): ${problem}`];
    });
  }

  /** Nothing of the pods that were deleted long ago is left beside those that live. */
  private async livingOnly(): Promise<string[]> {
    const pods = await this.watch.pods();
    const uids = new Set(pods.filter((p) => this.living.has(p.metadata?.name ?? '')).map((p) => p.metadata?.uid ?? ''));
    const look = async (): Promise<string[]> => (await leftOver(this.lab, uids)).agent;
    const left = await this.untilNone('nothing of deleted pods to be left', look, LEFT_MS);
    if (left.length === 0) return [];
    const { refused, forgotten } = await askAgain(this.lab, uids);
    // what the runtime itself does not let go is looked at again when it has been restarted
    return refused.length > 0 ? forgotten : left;
  }

  /** Looks until the list is empty, or patience is at its end: then what is in it. */
  private async untilNone(what: string, look: () => Promise<string[]>, patienceMs: number): Promise<string[]> {
    let last: string[] = ['never looked'];
    await waitFor(
      what,
      async () => {
        if (this.lab.ending) return true;
        last = await look();
        return last.length === 0 ? true : undefined;
      },
      () => last.join('\n'),
      patienceMs,
    ).catch((error: unknown) => this.say(String(error)));
    return last;
  }
}

function shapeOf(pod: Pod): Shape {
  return (pod.metadata?.labels?.['shape'] ?? '') as Shape;
}
