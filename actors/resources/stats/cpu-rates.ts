/** A rate over less time says little; the reading before is kept as the base then. */
const SHORTEST_MS = 1_000;
/** Between the two readings of a first request. */
const FIRST_SHORTEST_MS = 50;
/** A base older than this is of another time (cAdvisor keeps readings for 2 minutes). */
const LONGEST_MS = 120_000;

interface Base {
  at: number;
  usageNs: number;
  /** Rate up to this base or from it on, ns/s. */
  rate: number | undefined;
}

/**
 * Cpu use per second (`usageNanoCores`) out of counters that are read when somebody asks. The reference reads all
 * cgroups every 10 s; here the reading of the request before is the base, and a first request needs a second reading.
 */
export class CpuRates {
  private readonly bases = new Map<string, Base>();

  /**
   * Takes a reading of a cgroup.
   * @returns ns of cpu for each second, rounded down; undefined when another reading is needed, some 100 ms later
   */
  take(cgroup: string, { at, cpu }: { at: number; cpu?: { usageNs: number } | undefined }): number | undefined {
    if (cpu === undefined) return undefined;
    const { usageNs } = cpu;
    const base = this.bases.get(cgroup);
    const usable = base !== undefined && usageNs >= base.usageNs && at >= base.at && at - base.at <= LONGEST_MS;
    if (!usable) {
      this.bases.set(cgroup, { at, usageNs, rate: undefined });
      return undefined;
    }
    const passed = at - base.at;
    if (base.rate !== undefined && passed < SHORTEST_MS) return base.rate;
    if (passed < FIRST_SHORTEST_MS) return undefined;
    const rate = Math.floor((usageNs - base.usageNs) / (passed / 1000));
    this.bases.set(cgroup, { at, usageNs, rate });
    return rate;
  }

  /** Forgets cgroups that nobody has asked for for a while; called once a request. */
  forget(now: number): void {
    for (const [cgroup, { at }] of this.bases) if (now - at > LONGEST_MS) this.bases.delete(cgroup);
  }

  /** Number of cgroups that are remembered. */
  get size(): number {
    return this.bases.size;
  }
}
