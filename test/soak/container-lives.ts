import type { RuntimeContainer } from '../containerd/agent/support/test-node.ts';

/** A container as the runtime's list has it. */
export type SeenContainer = RuntimeContainer;

/** Times of a container as the runtime tells them, ms since the epoch; 0: not yet. */
export interface ToldTimes {
  startedAt: number;
  finishedAt: number;
  exitCode: number;
}

/** All that was ever seen of one container. */
export interface Life extends ToldTimes {
  id: string;
  pod: string;
  podUid: string;
  name: string;
  attempt: number;
  /** Begin of the last list in which it ran, ms since the epoch; 0: never. */
  lastRan: number;
  /** End of the first list in which it ran no more, ms since the epoch; 0: not yet. */
  firstNot: number;
  /** The runtime has it no more. */
  gone: boolean;
}

/** Whole lists of the runtime, put together to the lives of containers. */
export class ContainerLives {
  readonly lives = new Map<string, Life>();

  /** A whole list that was asked for at `began` and answered at `ended`. Returns those whose times are to be asked for. */
  list(containers: readonly SeenContainer[], began: number, ended: number): Life[] {
    const seen = new Set(containers.map((c) => c.id));
    const changed: Life[] = [];
    for (const { id, pod, podUid, name, running, attempt } of containers) {
      let life = this.lives.get(id);
      if (life === undefined) {
        const times = { startedAt: 0, finishedAt: 0, exitCode: 0 };
        life = { id, pod, podUid, name, attempt, ...times, lastRan: 0, firstNot: 0, gone: false };
        this.lives.set(id, life);
      }
      // a list of a containerd that has just begun may lack what it finds later
      life.gone = false;
      if (running) {
        life.lastRan = began;
        life.firstNot = 0;
      } else if (life.lastRan > 0 && life.firstNot === 0) life.firstNot = ended;
      if (running ? life.startedAt === 0 : life.finishedAt === 0) changed.push(life);
    }
    for (const life of this.lives.values()) {
      if (life.gone || seen.has(life.id)) continue;
      life.gone = true;
      if (life.lastRan > 0 && life.firstNot === 0) life.firstNot = ended;
    }
    return changed;
  }

  /** What the runtime says of a container that was asked about. */
  told(id: string, times: ToldTimes): void {
    const life = this.lives.get(id);
    if (life !== undefined) Object.assign(life, times);
  }
}
