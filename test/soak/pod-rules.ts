import type { Life } from './container-lives.ts';
import type { AskedPod, PodBook } from './pod-book.ts';
import { STEADY } from './shapes.ts';
import type { UpTime } from './up-time.ts';
import type { Findings } from './violations.ts';

/** One container of a pod's status. */
export interface SeenStatus {
  name: string;
  restartCount: number;
  /** Id of the container that is said to run. */
  running: string | null;
  /** Ids of all containers that it names. */
  ids: readonly string[];
}

/** A pod as the API server shows it. */
export interface SeenPod {
  uid: string;
  name: string;
  phase: string;
  containers: readonly SeenStatus[];
}

const TERMINAL = new Set(['Succeeded', 'Failed']);
/** Time for a deleted pod to go, beyond its grace period, and for a status to follow the runtime; ms in which all parts are there. */
const GONE_MS = 60_000;
const FOLLOW_MS = 30_000;

/** Judges what the API server shows of pods: against what it showed before, and against what the runtime once had. */
export class PodRules {
  /** Pods that it shows no more. */
  readonly gone = new Set<string>();
  private readonly findings: Findings;
  private readonly up: UpTime;
  private readonly book: PodBook;
  private readonly known = new Map<string, SeenPod>();
  /** When a terminal phase was first shown, by UID, ms since the epoch. */
  private readonly endedAt = new Map<string, number>();
  /** Containers that a status named and the runtime was not seen with, with the number of lists since. */
  private readonly unseen = new Map<string, { what: string; lists: number }>();

  constructor(findings: Findings, up: UpTime, book: PodBook) {
    this.findings = findings;
    this.up = up;
    this.book = book;
  }

  /** A whole list of the API server (a consistent one), answered at `ended`. */
  list(list: readonly SeenPod[], lives: ReadonlyMap<string, Life>, ended: number): void {
    const now = new Set(list.map((pod) => pod.uid));
    for (const uid of this.known.keys()) if (!now.has(uid)) this.gone.add(uid);
    for (const pod of list) {
      const before = this.known.get(pod.uid);
      if (before !== undefined) this.compare(before, pod);
      this.known.set(pod.uid, pod);
      if (TERMINAL.has(pod.phase) && !this.endedAt.has(pod.uid)) this.endedAt.set(pod.uid, ended);
      for (const status of pod.containers) this.status(pod, status, lives, ended);
      this.deletion(this.book.pods.get(pod.name), ended);
    }
  }

  /** A whole list of the runtime that was asked for after the last list of pods, put into `lives`. */
  runtime(lives: ReadonlyMap<string, Life>, listBegan: number): void {
    for (const life of lives.values()) {
      const runs = life.lastRan === listBegan;
      if (runs)
        this.findings.judge(
          'runs without its pod',
          this.gone.has(life.podUid) ? `${life.pod}/${life.name} ${life.id}` : null,
        );
      const endedAt = this.endedAt.get(life.podUid);
      if (endedAt !== undefined && life.startedAt > 0)
        this.findings.judge(
          'start after the end',
          life.startedAt > endedAt ? `${life.pod}/${life.name} ${life.id} began when the pod had ended` : null,
        );
    }
    this.counts(lives);
    for (const [id, unseen] of this.unseen) {
      if (lives.has(id)) this.unseen.delete(id);
      else unseen.lists++;
    }
  }

  /** What runs until its pod is deleted has been restarted as often as the runtime has a number for, and no more. */
  private counts(lives: ReadonlyMap<string, Life>): void {
    const most = new Map<string, number>();
    for (const { podUid, name, attempt } of lives.values())
      most.set(`${podUid}/${name}`, Math.max(attempt, most.get(`${podUid}/${name}`) ?? 0));
    for (const pod of this.known.values()) {
      const shape = this.book.pods.get(pod.name)?.shape;
      if (shape === undefined || !STEADY.has(shape) || this.gone.has(pod.uid)) continue;
      for (const { name, restartCount } of pod.containers) {
        const known = most.get(`${pod.uid}/${name}`) ?? 0;
        const what = `${pod.name}/${name}: ${restartCount}, and the runtime's highest number is ${known}`;
        this.findings.judge('a restart that was none', restartCount > known ? what : null);
      }
    }
  }

  private compare(before: SeenPod, now: SeenPod): void {
    for (const { name, restartCount } of now.containers) {
      const then = before.containers.find((c) => c.name === name)?.restartCount ?? 0;
      const fell = restartCount < then ? `${now.name}/${name} (${now.uid}): ${then} to ${restartCount}` : null;
      this.findings.judge('restart count fell', fell);
    }
    const back = TERMINAL.has(before.phase) && now.phase !== before.phase;
    const what = `${now.name} (${now.uid}): ${before.phase} to ${now.phase}`;
    this.findings.judge('terminal phase went back', back ? what : null);
  }

  private status(pod: SeenPod, status: SeenStatus, lives: ReadonlyMap<string, Life>, ended: number): void {
    const where = `${pod.name}/${status.name}`;
    for (const id of status.ids) {
      const life = lives.get(id);
      // one that is named by three statuses in a row, with lists of the runtime between them, and was in no list ever
      if (life === undefined && !this.unseen.has(id)) this.unseen.set(id, { what: where, lists: 0 });
      const never = life === undefined && (this.unseen.get(id)?.lists ?? 0) >= 2;
      const foreign = life !== undefined && (life.podUid !== pod.uid || life.name !== status.name);
      this.findings.judge('status of what never was', never || foreign ? `${where}: ${id}` : null);
    }
    const shown = status.running === null ? undefined : lives.get(status.running);
    if (shown === undefined) return;
    const over = shown.firstNot > 0 ? this.up.between(shown.firstNot, ended) : 0;
    this.findings.judge('status far behind', over > FOLLOW_MS ? `${where}: ${shown.id} runs no more` : null);
  }

  private deletion(asked: AskedPod | undefined, now: number): void {
    if (asked?.deletedAt === undefined || asked.deletedAt === null) return;
    const since = this.up.between(asked.deletedAt, now) - asked.graceSeconds * 1_000;
    this.findings.judge('deletion that does not end', since > GONE_MS ? asked.name : null);
  }
}
