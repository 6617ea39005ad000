import type { Life } from './container-lives.ts';
import type { AskedPod } from './pod-book.ts';
import { STEADY } from './shapes.ts';
import type { UpTime } from './up-time.ts';
import type { Findings } from './violations.ts';

/** How late a busy node may be, ms of time in which all its parts are there. */
export const SLACK_MS = { start: 5_000, grace: 10_000 } as const;
/** How long a postStart hook may take on a busy node, ms. */
const HOOK_MS = 10_000;
/** Times of the runtime and of this process come from one clock, read in another order, ms. */
const CLOCK_MS = 100;

/** Judges the containers of one pod by what the runtime told of them. Asked again after each list. */
export class ContainerRules {
  private readonly findings: Findings;
  private readonly up: UpTime;
  /** Lives that a rule about their end has judged. */
  private readonly done = new Set<string>();

  constructor(findings: Findings, up: UpTime) {
    this.findings = findings;
    this.up = up;
  }

  /** All containers that a pod ever had; `listBegan`: when the last list was asked for, ms since the epoch. */
  judge(asked: AskedPod, lives: readonly Life[], listBegan: number): void {
    const started = lives.filter((l) => l.startedAt > 0).sort((a, b) => a.startedAt - b.startedAt);
    this.oneAtATime(started);
    this.order(asked, started);
    for (const life of started) this.notAfterDeletion(asked, life);
    for (const life of started) if (STEADY.has(asked.shape)) this.onlyOnce(asked, life, started);
    for (const life of lives) this.inTime(asked, life, listBegan);
    for (const life of lives) this.notTooSoon(asked, life);
  }

  /** A container began when the one before it under its name had ended, however short the two were there together. */
  private oneAtATime(started: readonly Life[]): void {
    const before = new Map<string, Life>();
    for (const life of started) {
      const former = before.get(life.name);
      before.set(life.name, life);
      if (former === undefined) continue;
      const end = former.finishedAt > 0 ? former.finishedAt : former.lastRan;
      const both = end - life.startedAt;
      this.findings.judge(
        'two of one name',
        both > 0 ? `${life.pod}/${life.name}: ${former.id} ran ${both} ms beside ${life.id}` : null,
      );
    }
  }

  private order({ shape, deleteFrom, graceSeconds }: AskedPod, started: readonly Life[]): void {
    const first = (name: string): Life | undefined => started.find((l) => l.name === name);
    const follows = (name: string, by: Life | undefined, moment: number): void => {
      const life = first(name);
      if (life === undefined || by === undefined) return;
      const fits = moment > 0 && life.startedAt >= moment;
      this.findings.judge(
        'order of starts',
        fits ? null : `${life.pod}/${name} began ${moment - life.startedAt} ms too early`,
      );
    };
    if (shape === 'init') {
      const [i, j] = [first('i'), first('j')];
      // gone before its end was read: nothing to compare with
      if (i !== undefined && (i.finishedAt > 0 || !i.gone)) follows('j', i, i.finishedAt);
      if (j !== undefined && (j.finishedAt > 0 || !j.gone)) follows('a', j, j.finishedAt);
    }
    if (shape !== 'sidecar') return;
    const [s, a] = [first('s'), first('a')];
    if (s !== undefined) follows('a', s, s.startedAt);
    if (s === undefined || a === undefined || !(s.finishedAt > 0 && a.finishedAt > 0) || deleteFrom === null) return;
    // at the end of the grace period all are killed at once
    const inGrace = s.finishedAt < deleteFrom + graceSeconds * 1_000;
    const early = a.finishedAt - s.finishedAt;
    this.findings.judge('order of ends', inGrace && early > 0 ? `${s.pod}: the sidecar ended ${early} ms early` : null);
  }

  private notAfterDeletion({ deletedAt }: AskedPod, life: Life): void {
    if (deletedAt === null) return;
    const late = life.startedAt <= deletedAt ? 0 : this.up.between(deletedAt, life.startedAt);
    this.findings.judge(
      'start after deletion',
      late > SLACK_MS.start ? `${life.pod}/${life.name} ${life.id} began ${late} ms after the deletion` : null,
    );
  }

  /** Nothing but the deletion of its pod ends such a container: it is started once, whoever is killed beside it. */
  private onlyOnce({ shape }: AskedPod, life: Life, started: readonly Life[]): void {
    // a postStart hook that containerd does not live to answer has failed, and a container whose hook failed is restarted
    const hookCut = shape === 'hooks' && this.up.away('containerd', life.startedAt - HOOK_MS, life.startedAt + HOOK_MS);
    if (hookCut) return;
    const again = started.find((other) => other.name === life.name && other.startedAt > life.startedAt);
    this.findings.judge(
      'restart of what ran',
      again === undefined
        ? null
        : `${life.pod}/${life.name}: ${again.id} after ${life.id} (exit code ${life.exitCode})`,
    );
  }

  private inTime({ deletedAt, graceSeconds }: AskedPod, life: Life, listBegan: number): void {
    if (deletedAt === null || life.lastRan === 0) return;
    const ranAt = life.finishedAt > 0 ? life.finishedAt : life.lastRan;
    const over = ranAt <= deletedAt ? 0 : this.up.between(deletedAt, ranAt) - graceSeconds * 1_000 - SLACK_MS.grace;
    if (over <= 0 && life.lastRan === listBegan) return;
    this.findings.judge(
      'longer grace than asked',
      over > 0 ? `${life.pod}/${life.name}: of ${graceSeconds} s and ${SLACK_MS.grace / 1_000} s to spare` : null,
    );
  }

  /** Who ignores SIGTERM ends when the grace period is over, and not before. */
  private notTooSoon({ shape, deleteFrom, graceSeconds }: AskedPod, life: Life): void {
    // what failed to start has an end, too
    if (life.startedAt === 0 && life.lastRan === 0) return;
    const end = life.finishedAt > 0 ? life.finishedAt : life.firstNot;
    if (shape !== 'slow' || end === 0 || this.done.has(life.id)) return;
    this.done.add(life.id);
    const least = deleteFrom === null ? Infinity : deleteFrom + graceSeconds * 1_000 - CLOCK_MS;
    const what = `${life.pod}/${life.name}: ${deleteFrom === null ? 'not even deleted' : `${least - end} ms too soon`}`;
    this.findings.judge('shorter grace than asked', end < least ? what : null);
  }
}
