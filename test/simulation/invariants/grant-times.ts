import { uidEntries } from '../../../machines/supervisor/uid-table.ts';
import type { UidTable } from '../../../machines/supervisor/uid-table.ts';
import type { World } from '../world/world.ts';

/** So long after the disk has room again what was given is on it, ms: it is tried each ten seconds. */
const WRITTEN_MS = 10_100;

/** When pods were given what they have alone, and who of them an agent that dies could not write down: the next one cannot know of these. */
export class GrantTimes {
  private readonly world: World;
  private readonly since = new Map<string, number>();

  constructor(world: World) {
    this.world = world;
  }

  /** These pods have something now. */
  look(pods: UidTable<unknown>): void {
    const uids = new Set(uidEntries(pods).map(([uid]) => uid));
    for (const uid of uids) if (!this.since.has(uid)) this.since.set(uid, this.world.time.now);
    for (const uid of this.since.keys()) if (!uids.has(uid)) this.since.delete(uid);
  }

  /** Forgets containers of pods that were given what they have while the disk was full, when the agent dies before it could be written. */
  forgetUnwritten(made: Map<string, string>): void {
    const full = this.fullSince();
    for (const id of made.keys()) {
      const uid = this.world.runtime.core.containers.byId.get(id)?.sandbox.metadata.uid ?? '';
      if ((this.since.get(uid) ?? -Infinity) >= full) made.delete(id);
    }
  }

  /** Since when nothing could be written; Infinity when it could. */
  private fullSince(): number {
    const { plan, time } = this.world;
    const spans = plan.faults.flatMap((fault) => (fault.kind === 'journal-full' ? [fault] : []));
    let since = Infinity;
    for (const { from, for: long } of spans.sort((a, b) => b.from - a.from)) {
      const until = Math.min(since, time.now);
      if (from <= until && from + long + WRITTEN_MS >= until) since = from;
    }
    return since;
  }
}
