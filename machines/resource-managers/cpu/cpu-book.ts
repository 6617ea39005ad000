import type { UidTable } from '../../supervisor/uid-table.ts';
import { atUid, withUid, withoutUid } from '../../supervisor/uid-table.ts';
import type { CpuSet } from './cpu-set.ts';
import { NO_CPUS, cpuSetText, parseCpuSetList, union, without } from './cpu-set.ts';

/** CPUs that a container has alone, as the kernel lists them. */
export interface CpuGrant {
  name: string;
  cpus: string;
}

/** Who has which CPU, plain JSON. */
export interface CpuState {
  /** For all that have none alone (kubelet's default CPU set). */
  shared: string;
  pods: UidTable<readonly CpuGrant[]>;
}

/** {@link CpuState} on its way through one pod's admission. */
export class CpuBook {
  shared: CpuSet;
  private pods: CpuState['pods'];

  constructor({ shared, pods }: CpuState) {
    this.shared = parseCpuSetList(shared);
    this.pods = pods;
  }

  get state(): CpuState {
    return { shared: cpuSetText(this.shared), pods: this.pods };
  }

  /** What the container has alone; undefined for nothing. */
  of(uid: string, name: string): CpuSet | undefined {
    const found = atUid(this.pods, uid)?.find((each) => each.name === name);
    return found && parseCpuSetList(found.cpus);
  }

  /** The container has these from now on. */
  give(uid: string, name: string, cpus: CpuSet): void {
    const others = (atUid(this.pods, uid) ?? []).filter((each) => each.name !== name);
    this.pods = withUid(this.pods, uid, [...others, { name, cpus: cpuSetText(cpus) }]);
    this.shared = without(this.shared, cpus);
  }

  /** What the container has goes back, except for what others of its pod have, too. */
  release(uid: string, name: string): CpuSet {
    const grants = atUid(this.pods, uid) ?? [];
    const released = this.of(uid, name);
    if (released === undefined) return NO_CPUS;
    const rest = grants.filter((each) => each.name !== name);
    this.pods = rest.length > 0 ? withUid(this.pods, uid, rest) : withoutUid(this.pods, uid);
    const kept = rest.map((each) => parseCpuSetList(each.cpus)).reduce(union, NO_CPUS);
    const free = without(released, kept);
    this.shared = union(this.shared, free);
    return free;
  }

  /** Nothing of the pod's stays. */
  releasePod(uid: string): void {
    for (const { name } of atUid(this.pods, uid) ?? []) this.release(uid, name);
  }
}
