import { ContainerLives } from './container-lives.ts';
import type { Life, SeenContainer, ToldTimes } from './container-lives.ts';
import { ContainerRules } from './container-rules.ts';
import { PodBook } from './pod-book.ts';
import { PodRules } from './pod-rules.ts';
import type { SeenPod } from './pod-rules.ts';
import { UpTime } from './up-time.ts';
import { Findings } from './violations.ts';

/** A running container's first process, and when that began (field 22 of /proc/PID/stat). */
export interface SeenProcess {
  pid: number;
  began: string;
}

/** A cgroup of a container that holds processes. */
export interface SeenCgroup {
  podUid: string;
  id: string;
}

/**
 * Checks what a client from outside sees of a node. Pure: it is told what was read, when and in which order, and holds
 * what it has seen before. What it is not told of is not judged.
 */
export class Invariants {
  readonly findings = new Findings();
  readonly up = new UpTime();
  readonly book = new PodBook();
  private readonly lives = new ContainerLives();
  private readonly podRules = new PodRules(this.findings, this.up, this.book);
  private readonly containerRules = new ContainerRules(this.findings, this.up);
  /** Pods whose containers are all gone and judged. */
  private readonly closed = new Set<string>();

  /** A whole list of the API server's pods, answered at `ended` (ms since the epoch). */
  pods(list: readonly SeenPod[], ended: number): void {
    this.podRules.list(list, this.lives.lives, ended);
  }

  /** A whole list of the runtime that was asked for after the last list of pods. Returns the containers to be asked about. */
  containers(list: readonly SeenContainer[], began: number, ended: number): Life[] {
    const running = new Map<string, string>();
    for (const c of list.filter((seen) => seen.running)) {
      const key = `${c.podUid}/${c.name}`;
      const other = running.get(key);
      running.set(key, c.id);
      this.findings.judge('two of one name', other === undefined ? null : `${c.pod}/${c.name}: ${other} and ${c.id}`);
    }
    return this.lives.list(list, began, ended);
  }

  /** What the runtime says of one container. */
  told(id: string, times: ToldTimes): void {
    this.lives.told(id, times);
  }

  /** All that followed from a list of the runtime is told. */
  judge(listBegan: number): void {
    this.podRules.runtime(this.lives.lives, listBegan);
    const byPod = Map.groupBy(this.lives.lives.values(), (life) => life.pod);
    for (const [name, lives] of byPod) {
      const asked = this.book.pods.get(name);
      if (asked === undefined || this.closed.has(name)) continue;
      this.containerRules.judge(asked, lives, listBegan);
      if (lives.every((l) => l.gone && this.podRules.gone.has(l.podUid))) this.closed.add(name);
    }
  }

  /** Cgroups of containers and sandboxes in which processes run, read after the last list of pods. */
  cgroups(list: readonly SeenCgroup[]): void {
    for (const { podUid, id } of list)
      this.findings.judge('processes without their pod', this.podRules.gone.has(podUid) ? `${podUid}/${id}` : null);
    const names = new Map<string, string>();
    for (const { id } of list) {
      const life = this.lives.lives.get(id);
      if (life === undefined) continue;
      const key = `${life.pod}/${life.name}`;
      const other = names.get(key);
      names.set(key, id);
      this.findings.judge('two of one name', other === undefined ? null : `${key}: processes of ${other} and ${id}`);
    }
  }

  /** A volume of a container that ran before and after `mounted` was read. */
  volume(where: string, mounted: boolean): void {
    this.findings.judge('unmounted under a container', mounted ? null : where);
  }

  /** Processes of containers before an agent was killed and after the next one had begun; `null`: the container is gone. */
  processes(before: ReadonlyMap<string, SeenProcess>, after: ReadonlyMap<string, SeenProcess | null>): void {
    for (const [id, then] of before) {
      const now = after.get(id);
      if (now === undefined) continue;
      const same = now?.pid === then.pid && now.began === then.began;
      const what = `${id}: ${then.pid} is ${now === null ? 'gone' : `${now.pid} now`}`;
      this.findings.judge('lost its process', same ? null : what);
    }
  }

  /** Names of the pods whose containers ran in the list that was asked for at `listBegan`, with their UIDs. */
  runningIn(listBegan: number): Life[] {
    return [...this.lives.lives.values()].filter((life) => life.lastRan === listBegan);
  }
}
