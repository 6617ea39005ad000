import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { CgroupReader, CgroupReading, WithoutParts } from '../cgroup-stats/cgroup-reading.ts';
import { CpuRates } from './cpu-rates.ts';

/** What summaries have no use for. */
export const WITHOUT = { files: true, blockIo: true, details: true } as const;
/** A second reading is for its cpu time alone. */
const CPU_ONLY = {
  ...WITHOUT,
  ...{ limits: true, processes: true, pressure: true, memory: true, createdAt: true },
} as const;
/** From a first reading to the second, ms. */
const SECOND_LOOK_MS = 150;
/** Reading goes on in the next turn of the event loop after this time, ms. */
const TURN_MS = 8;

/** A reading and the rate of cpu use at that time, ns/s. */
export interface MeasuredCgroup {
  reading: CgroupReading;
  rate: number | undefined;
}

/** Finds the cgroups of pods and containers as cAdvisor's users do, by the last part of their path, and reads them. */
export class CgroupBook {
  private readonly reader: CgroupReader;
  /** The cgroup below which all pods are. */
  private readonly podsRoot: string;
  private readonly now: () => number;
  private readonly rates = new CpuRates();
  private paths = new Map<string, string>();

  constructor(reader: CgroupReader, podsRoot: string, now: () => number) {
    this.reader = reader;
    this.podsRoot = podsRoot;
    this.now = now;
  }

  /**
   * Paths of these keys: `pod<uid>` and ids of containers and sandboxes. The tree is walked only when one is unknown, which
   * stays unknown when it has none.
   */
  find(keys: ReadonlySet<string>): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    // What is known of others stays for who asks for them next.
    if (keys.size === 0) return found;
    for (const key of keys) {
      const path = this.paths.get(key);
      if (path !== undefined) found.set(key, path);
    }
    if (found.size < keys.size) {
      for (const path of this.reader.tree(this.podsRoot)) {
        const key = keyOf(path);
        if (keys.has(key)) found.set(key, path);
      }
    }
    this.paths = found;
    return found;
  }

  /**
   * Reads these cgroups; those that are gone are not in the answer.
   * @param cgroups each with what of it is of no use
   * @param wantRates wait for a second reading of those that have no former one
   */
  async read(
    cgroups: ReadonlyMap<string, WithoutParts>,
    wantRates: boolean,
  ): Promise<ReadonlyMap<string, MeasuredCgroup>> {
    const measured = new Map<string, MeasuredCgroup>();
    const unrated: string[] = [];
    const turns = new Turns();
    for (const [cgroup, without] of cgroups) {
      const reading = this.reader.read(cgroup, without);
      if (reading === null) continue;
      const rate = this.rates.take(cgroup, reading);
      measured.set(cgroup, { reading, rate });
      if (rate === undefined && reading.cpu !== undefined) unrated.push(cgroup);
      if (turns.over) await turns.next();
    }
    this.rates.forget(this.now());
    if (!wantRates || unrated.length === 0) return measured;
    await sleep(SECOND_LOOK_MS);
    turns.begin();
    for (const cgroup of unrated) {
      const again = this.reader.read(cgroup, CPU_ONLY);
      const first = measured.get(cgroup);
      if (again !== null && first !== undefined) first.rate = this.rates.take(cgroup, again);
      if (turns.over) await turns.next();
    }
    return measured;
  }

  /** First process of a cgroup, whose network namespace is that of the pod; null when there is none. */
  firstPid(cgroup: string): number | null {
    return this.reader.firstPid(cgroup);
  }
}

/** Long work in pieces: others have their turn in between. */
export class Turns {
  private began = performance.now();

  /** This turn was long enough. */
  get over(): boolean {
    return performance.now() - this.began >= TURN_MS;
  }

  /** Lets the others have their turn. */
  async next(): Promise<void> {
    await nextTurn();
    this.begin();
  }

  /** A turn begins now: work was resumed after a wait. */
  begin(): void {
    this.began = performance.now();
  }
}

/** Name of a pod's or container's cgroup without what the systemd driver puts around: `pod<uid>`, or an id. */
export function keyOf(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1);
  if (last.endsWith('.scope')) {
    const name = last.slice(0, -'.scope'.length);
    return name.slice(name.lastIndexOf('-') + 1);
  }
  if (!last.endsWith('.slice')) return last;
  const name = last.slice(0, -'.slice'.length);
  return name.slice(name.lastIndexOf('-') + 1).replaceAll('_', '-');
}
