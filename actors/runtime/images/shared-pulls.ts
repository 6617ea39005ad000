import type { Logger } from 'pino';
import { noPulls } from '../../../machines/images/pull-machine.ts';
import type { PullMessage, PullQueueOrder, PullState } from '../../../machines/images/pull-machine.ts';
import { placeInQueue } from '../../../machines/images/pull-queue.ts';
import type { Pull, PullWish } from '../../../machines/images/pull-queue.ts';
import type { PullPlace } from '../../../machines/protocol/pull-place.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import { pulls } from '../../record/machines/pulls.ts';
import type { WithoutTime } from '../../../machines/protocol/without-time.ts';

/** Carries a pull out. @param pull as it is when it begins @param signal nobody waits for it any more */
export type CarryOut<T> = (pull: Pull, signal: AbortSignal) => Promise<T>;

/** How the queue is made. */
export interface SharedPullsOptions {
  /** Pulls at once, at most; null = no bound. */
  limit: number | null;
  /** ms since the epoch. */
  now: () => number;
  log: Logger;
  /** Where messages are journaled; absent with `--no-journal`. */
  journal?: JournalSettings;
}

interface Waiter<T> {
  resolve: (answer: T) => void;
  reject: (error: unknown) => void;
  onTurn: (place: PullPlace | null) => void;
}

/** What a pull came to, to be told to each who waits. */
type Tell<T> = (waiter: Waiter<T>) => void;

/** For how long a pull is held that others are about to ask for as well, ms: their timers do not go off at once. */
const HELD_MS = 200;
/** Pause before the queue is told again what it could not take in, ms. */
const AGAIN_MS = 10_000;

/** Hosts the queue of pulls: carries out what it orders, and tells each who waits. */
export class SharedPulls<T> {
  private readonly now: () => number;
  private readonly log: Logger;
  private readonly machine: SingleMachine<PullState, PullMessage, PullQueueOrder>;
  private readonly carryOut: CarryOut<T>;
  private readonly waiters = new Map<string, Waiter<T>>();
  /** What ends each pull that is under way. */
  private readonly ends = new Map<number, AbortController>();
  /** What pulls came to whose askers are told in this turn. */
  private readonly outcomes = new Map<number, Tell<T>>();
  /** What pulls of the queue are made with, by what stands for it in the journal: it must not tell of logins, not even as a hash. */
  private readonly rights = new Map<string, string>();
  /** Pulls that the queue could not be told to have gone on, and why: nothing comes of them before it can. */
  private readonly stuck = new Map<number, Error>();
  private named = 0;

  constructor({ limit, now, log, journal }: SharedPullsOptions, carryOut: CarryOut<T>) {
    this.now = now;
    this.log = log;
    this.carryOut = carryOut;
    this.machine = new SingleMachine(pulls, noPulls(limit), journal ?? null);
  }

  /**
   * Asks for a pull, and answers what it came to. `onTurn` hears where the asker stands when he has to wait, and null when
   * the pull then begins; of a pull that begins at once, or has begun, it hears nothing.
   */
  ask({ asker, right, image, fresh, retry }: PullWish, onTurn: (place: PullPlace | null) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      this.waiters.set(asker, { resolve, reject, onTurn });
      const failure = this.take({ type: 'pull.ask', asker, right: this.nameOf(right), image, fresh, retry });
      if (failure !== null) this.refuse([asker], failure);
      else if (this.stuck.size > 0) this.refuseStuck();
    });
  }

  /** Somebody waits no more: he is answered with this error, and the pull goes on for the others. */
  leave(asker: string, error: Error): void {
    const waiter = this.waiters.get(asker);
    if (waiter === undefined) return;
    this.waiters.delete(asker);
    waiter.reject(error);
    this.take({ type: 'pull.leave', asker });
  }

  /** Where somebody stands who waits for a pull that has not begun, else null. */
  placeOf(asker: string): PullPlace | null {
    return placeInQueue(this.machine.state.queue, asker);
  }

  /** Closes the journal. Pulls that are under way are left to themselves. */
  close(): void {
    this.machine.close();
  }

  private take(message: WithoutTime<PullMessage>): Error | null {
    const whole = { ...message, at: this.now() } as PullMessage;
    const failure = this.machine.handle(whole, this.log, (order) => this.follow(order));
    this.forgetRights();
    return failure;
  }

  /** A pull goes on. What the queue cannot take in is told to it again: its place would be lost to all others, and who joins it would wait for ever. */
  private goesOn(message: { type: 'pull.letGo' | 'pull.ended'; id: number }): void {
    const failure = this.take(message);
    if (failure === null) {
      this.stuck.delete(message.id);
      return;
    }
    this.stuck.set(message.id, failure);
    this.refuseStuck();
    setTimeout(() => this.goesOn(message), AGAIN_MS).unref();
  }

  /** Who waits for a pull that is stuck is told why. */
  private refuseStuck(): void {
    const { underWay, waiting } = this.machine.state.queue;
    for (const { id, askers } of [...underWay, ...waiting]) {
      const why = this.stuck.get(id);
      if (why !== undefined) this.refuse(askers, why);
    }
  }

  private refuse(askers: readonly string[], why: Error): void {
    for (const asker of askers) {
      const waiter = this.waiters.get(asker);
      this.waiters.delete(asker);
      waiter?.reject(why);
    }
  }

  private follow(order: PullQueueOrder): void {
    switch (order.type) {
      case 'pull.begin':
        void this.begin(order.pull);
        break;
      case 'pull.end':
        this.ends.get(order.id)?.abort();
        break;
      case 'pull.hold':
        setTimeout(() => this.goesOn({ type: 'pull.letGo', id: order.id }), HELD_MS);
        break;
      case 'turn.tell':
        this.waiters.get(order.asker)?.onTurn(order.place);
        break;
      case 'pull.answer':
        for (const asker of order.askers) {
          const waiter = this.waiters.get(asker);
          this.waiters.delete(asker);
          if (waiter !== undefined) this.outcomes.get(order.id)?.(waiter);
        }
        break;
    }
  }

  private async begin(pull: Pull): Promise<void> {
    const { id } = pull;
    const end = new AbortController();
    this.ends.set(id, end);
    try {
      const answer = await this.carryOut({ ...pull, right: this.rights.get(pull.right) ?? '' }, end.signal);
      this.outcomes.set(id, ({ resolve }) => resolve(answer));
    } catch (error) {
      this.outcomes.set(id, ({ reject }) => reject(error));
    }
    this.ends.delete(id);
    this.goesOn({ type: 'pull.ended', id });
    this.outcomes.delete(id);
  }

  private nameOf(right: string): string {
    for (const [name, known] of this.rights) if (known === right) return name;
    const name = `r${++this.named}`;
    this.rights.set(name, right);
    return name;
  }

  /** What no pull of the queue is made with is not needed any more. */
  private forgetRights(): void {
    const { underWay, waiting } = this.machine.state.queue;
    if (this.rights.size <= underWay.length + waiting.length) return;
    const used = new Set([...underWay, ...waiting].map(({ right }) => right));
    for (const name of this.rights.keys()) if (!used.has(name)) this.rights.delete(name);
  }
}
