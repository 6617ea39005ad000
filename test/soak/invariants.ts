/** A container as the runtime lists it. */
export interface SeenContainer {
  id: string;
  podUid: string;
  name: string;
  running: boolean;
}

/** A pod as the API server shows it. */
export interface SeenPod {
  uid: string;
  name: string;
  phase: string;
  /** Restart counts by container. */
  restarts: Readonly<Record<string, number>>;
}

/** A running container's first process, and when that began (field 22 of /proc/PID/stat). */
export interface SeenProcess {
  pid: number;
  began: string;
}

/** A rule that did not hold. */
export interface Violation {
  rule:
    'two of one name' | 'runs without its pod' | 'restart count fell' | 'terminal phase went back' | 'lost its process';
  what: string;
}

const TERMINAL = new Set(['Succeeded', 'Failed']);

/**
 * Checks what a client from outside sees of a node. Pure: it is told what was read, and in which order, and holds what it
 * has seen before. What it is not told of is not judged.
 */
export class Invariants {
  readonly violations: Violation[] = [];
  /** Number of checks, for a report: a checker that was never asked finds nothing. */
  checks = 0;
  private readonly known = new Map<string, SeenPod>();
  private readonly gone = new Set<string>();
  private readonly told = new Set<string>();

  /** A whole list of the API server's pods (a consistent one), as of before everything that is told afterwards. */
  pods(list: readonly SeenPod[]): void {
    this.checks++;
    const now = new Set(list.map((pod) => pod.uid));
    for (const uid of this.known.keys()) if (!now.has(uid)) this.gone.add(uid);
    for (const pod of list) {
      const before = this.known.get(pod.uid);
      if (before !== undefined) this.comparePod(before, pod);
      this.known.set(pod.uid, pod);
    }
  }

  /** A whole list of the runtime's containers that was read after the last list of pods. */
  containers(list: readonly SeenContainer[]): void {
    this.checks++;
    const names = new Map<string, string>();
    for (const { id, podUid, name, running } of list) {
      if (!running) continue;
      const key = `${podUid}/${name}`;
      const other = names.get(key);
      if (other !== undefined) this.note('two of one name', `${key}: ${other} and ${id}`);
      names.set(key, id);
      if (this.gone.has(podUid)) this.note('runs without its pod', `${key}: ${id}`);
    }
  }

  /** Processes of containers before an agent was killed and after the next one had begun; `null`: the container is gone. */
  processes(before: ReadonlyMap<string, SeenProcess>, after: ReadonlyMap<string, SeenProcess | null>): void {
    this.checks++;
    for (const [id, then] of before) {
      const now = after.get(id);
      if (now === undefined) continue;
      if (now?.pid === then.pid && now.began === then.began) continue;
      this.note('lost its process', `${id}: ${then.pid} is ${now === null ? 'gone' : `${now.pid} now`}`);
    }
  }

  private comparePod(before: SeenPod, now: SeenPod): void {
    for (const [name, count] of Object.entries(before.restarts)) {
      const left = now.restarts[name];
      if (left !== undefined && left < count)
        this.note('restart count fell', `${now.name}/${name} (${now.uid}): ${count} to ${left}`);
    }
    if (TERMINAL.has(before.phase) && now.phase !== before.phase)
      this.note('terminal phase went back', `${now.name} (${now.uid}): ${before.phase} to ${now.phase}`);
  }

  /** Each finding once. */
  private note(rule: Violation['rule'], what: string): void {
    const key = `${rule}: ${what}`;
    if (this.told.has(key)) return;
    this.told.add(key);
    this.violations.push({ rule, what });
  }
}
