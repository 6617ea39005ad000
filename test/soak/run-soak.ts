import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '../cluster/support/api-objects.ts';
import { waitFor } from '../containerd/agent/support/wait-for.ts';
import { Invariants } from './invariants.ts';
import type { SeenProcess, Violation } from './invariants.ts';
import type { SoakOptions } from './options.ts';
import { containerProcesses, seenContainers, seenPod } from './outside-view.ts';
import { Samples, cgroupsOf, mountsOf } from './samples.ts';
import { drawSchedule } from './schedule.ts';
import type { Act, Victim } from './schedule.ts';
import { STEADY, lacks, podOfShape } from './shapes.ts';
import type { Shape } from './shapes.ts';
import type { Trend } from './slopes.ts';
import type { SoakedNode } from './soaked-node.ts';
import { growing } from './verdict.ts';

/** What a soak found. */
export interface SoakResult extends SoakOptions {
  created: number;
  deleted: number;
  kills: Record<Victim, number>;
  /** Reads that were checked. */
  checks: number;
  violations: Violation[];
  /** Pods that did not become what their spec calls for when all was quiet. */
  unfinished: string[];
  /** What the node still held when all pods were deleted. */
  left: string[];
  trends: Record<string, Trend | null>;
  growing: string[];
}

const LOOK_MS = 700;
const SAMPLE_MS = 5_000;
/** For what must come about: longer than the longest of the delays that a crashing container reaches here. */
const PATIENCE_MS = 240_000;

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
  }

  async run(): Promise<SoakResult> {
    const { minutes, seed } = this.options;
    const acts = drawSchedule(seed, minutes);
    const watching = Promise.all([
      this.repeat(LOOK_MS, () => this.look()),
      this.repeat(SAMPLE_MS, () => this.sample()),
    ]);
    let unfinished: string[] = [];
    let left: string[] = [];
    try {
      const began = performance.now();
      for (const act of acts) {
        await sleep(Math.max(0, act.at - (performance.now() - began)));
        this.begin(act);
      }
      await Promise.all(this.pending);
      this.quiet = true;
      this.say(`quiet: ${this.living.size} pods are left`);
      unfinished = await this.unfinished();
      await Promise.all([...this.living.keys()].map((name) => this.remove(name)));
      left = await this.left();
    } finally {
      this.over = true;
      await watching;
    }
    const trends = this.samples.trends();
    return {
      ...{ minutes, seed, created: this.created, deleted: this.deleted, kills: this.kills },
      ...{ checks: this.rules.checks, violations: this.rules.violations, unfinished, left },
      ...{ trends, growing: growing(trends, minutes) },
    };
  }

  /** Begins an act; nobody waits for its end. */
  private begin(act: Act): void {
    const work =
      act.do === 'create'
        ? this.create(act.name, act.shape, act.graceSeconds)
        : act.do === 'delete'
          ? this.remove(act.name)
          : this.kill(act.victim);
    if (act.do === 'create') this.creating.set(act.name, work);
    const task: Promise<void> = work
      .catch((error: unknown) => this.say(`${JSON.stringify(act)}: ${String(error)}`))
      .finally(() => this.pending.delete(task));
    this.pending.add(task);
  }

  private async create(name: string, shape: Shape, graceSeconds: number): Promise<void> {
    const { space, node } = this.lab;
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
      if (pod !== undefined && pod.metadata?.deletionTimestamp === undefined) await space.remove('Pod', name);
      return true;
    });
    this.living.delete(name);
    this.deleted++;
  }

  private async kill(victim: Victim): Promise<void> {
    // who is still on its way up is not killed again: its supervisor would only wait longer each time
    if (this.busy.has(victim) || (victim === 'worker' && this.busy.has('agent'))) return;
    this.busy.add(victim);
    try {
      this.kills[victim]++;
      this.say(`kill ${victim}`);
      const before = victim === 'agent' ? await containerProcesses(this.lab.node.cgroupRoot) : null;
      await this.lab.kill(victim);
      await waitFor('the agent to serve', async () => ((await this.lab.healthy()) ? true : undefined));
      if (before === null) return;
      await sleep(3_000);
      await this.compareProcesses(before);
    } finally {
      this.busy.delete(victim);
    }
  }

  /** Who ran before an agent was killed runs on: the same process, unless somebody has deleted its pod since. */
  private async compareProcesses(before: ReadonlyMap<string, SeenProcess>): Promise<void> {
    const [seen, now] = await Promise.all([
      seenContainers(this.lab.node),
      containerProcesses(this.lab.node.cgroupRoot),
    ]);
    // read after the processes: a pod that is deleted between the two reads is left out, not blamed
    const pods = await this.pods();
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

  private pods(): Promise<Pod[]> {
    return this.lab.space.pods('soak=yes');
  }

  /** One look from outside: first the API, then the runtime. While one of them is away the other is looked at. */
  private async look(): Promise<void> {
    await this.pods().then(
      (pods) => this.rules.pods(pods.map(seenPod)),
      () => undefined,
    );
    await seenContainers(this.lab.node).then(
      (list) => this.rules.containers(list),
      () => undefined,
    );
    for (const { rule, what } of this.rules.violations.slice(this.said)) this.say(`VIOLATION ${rule}: ${what}`);
    this.said = this.rules.violations.length;
  }

  private async sample(): Promise<void> {
    if (this.quiet) return;
    for (const part of ['actorlet', 'containerd'] as const) await this.samples.process(part, this.lab.watched(part));
    await this.samples.machine(this.lab.node);
  }

  private async repeat(periodMs: number, what: () => Promise<void>): Promise<void> {
    while (!this.over) {
      await what().catch((error: unknown) => this.say(`a look failed: ${String(error)}`));
      await sleep(periodMs);
    }
  }

  private async unfinished(): Promise<string[]> {
    const lacking = async (): Promise<string[]> => {
      const pods = new Map((await this.pods()).map((p) => [p.metadata?.name ?? '', p]));
      return [...this.living].flatMap(([name, shape]) => {
        const pod = pods.get(name);
        const problem = pod === undefined ? 'gone' : lacks(shape, pod);
        return problem === '' ? [] : [`${name} (${shape}): ${problem}`];
      });
    };
    return this.untilNone('every pod to be what it is to be', lacking);
  }

  /** What is left of pods on the node and in the API. */
  private async left(): Promise<string[]> {
    const { node } = this.lab;
    return this.untilNone('nothing to be left', async () => {
      const [pods, containers, sandboxes, folders, mounts, cgroups] = await Promise.all([
        this.pods(),
        node.containers(),
        node.containerd.cri.pods(),
        readdir(join(node.agentRoot, 'pods')),
        mountsOf(node.dir),
        cgroupsOf(node.cgroupRoot),
      ]);
      return [
        ...pods.map((p) => `API: ${p.metadata?.name ?? ''}`),
        ...containers.map((c) => `container: ${c.pod}/${c.name} ${c.id}`),
        ...sandboxes.map((s) => `sandbox: ${s.metadata?.name ?? ''} ${s.id}`),
        ...folders.map((name) => `folder: ${name}`),
        ...mounts.filter((m) => /\/(pods|netns|sandboxes|rootfs)\b/.test(m)).map((m) => `mount: ${m}`),
        ...cgroups.map((c) => `cgroup: ${c}`),
      ];
    });
  }

  /** Looks until the list is empty, or patience is at its end: then what is in it. */
  private async untilNone(what: string, look: () => Promise<string[]>): Promise<string[]> {
    let last: string[] = ['never looked'];
    await waitFor(
      what,
      async () => {
        last = await look();
        return last.length === 0 ? true : undefined;
      },
      () => last.join('\n'),
      PATIENCE_MS,
    ).catch((error: unknown) => this.say(String(error)));
    return last;
  }
}

function shapeOf(pod: Pod): Shape {
  return (pod.metadata?.labels?.['shape'] ?? '') as Shape;
}
