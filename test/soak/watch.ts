import { join } from 'node:path';
import type { Pod } from '../cluster/support/api-objects.ts';
import type { Invariants } from './invariants.ts';
import { busyCgroups, mountsOf, seenContainers, seenPod, toldTimes } from './outside-view.ts';
import type { SoakedNode } from './soaked-node.ts';

/** Each so manieth look also reads cgroups and mounts. */
const CLOSER_LOOK = 3;

/** Looks at a node from outside, again and again, and tells the rules what was read in the order in which it was. */
export class Watch {
  private readonly lab: SoakedNode;
  private readonly rules: Invariants;
  private looks = 0;

  constructor(lab: SoakedNode, rules: Invariants) {
    this.lab = lab;
    this.rules = rules;
  }

  /** All pods of the soak. */
  pods(): Promise<Pod[]> {
    return this.lab.space.pods('soak=yes');
  }

  /** One look: first the API, then the runtime, then the machine. While one is away the others are looked at. Returns the number of containers. */
  async look(): Promise<number | null> {
    const pods = await this.pods().catch(() => null);
    if (pods !== null) this.rules.pods(pods.map(seenPod), Date.now());
    const began = Date.now();
    const containers = await seenContainers(this.lab.node).catch(() => null);
    if (containers === null) return null;
    const changed = this.rules.containers(containers, began, Date.now());
    await Promise.all(
      changed.map(async ({ id }) => {
        const times = await toldTimes(this.lab.node, id);
        if (times !== null) this.rules.told(id, times);
      }),
    );
    this.rules.judge(began);
    if (this.looks++ % CLOSER_LOOK === 0) await this.lookCloser(began);
    return containers.length;
  }

  /** Processes and mounts of what ran in the list of `began`. */
  private async lookCloser(began: number): Promise<void> {
    const { node } = this.lab;
    this.rules.cgroups(await busyCgroups(node.cgroupRoot));
    const mounts = new Set(await mountsOf(node.agentRoot));
    const later = await seenContainers(node).catch(() => []);
    const still = new Set(later.filter((c) => c.running).map((c) => c.id));
    for (const { id, pod, podUid } of this.rules.runningIn(began)) {
      if (this.rules.book.pods.get(pod)?.shape !== 'volumes' || !still.has(id)) continue;
      const point = join(node.agentRoot, 'pods', podUid, 'volumes/kubernetes.io~empty-dir/m');
      this.rules.volume(`${pod}: ${point}`, mounts.has(point));
    }
  }
}
