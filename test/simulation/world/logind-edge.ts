import type {
  InhibitorLock,
  LogindEdge,
  LogindHearer,
  LogindSession,
} from '../../../actors/host/logind/logind-edge.ts';
import type { Fact } from './facts.ts';
import type { FaultClock } from './fault-clock.ts';
import type { Owner, VirtualTime } from './virtual-time.ts';

/** What logind waits for when nobody has told it otherwise, ms. */
const DEFAULT_DELAY_MS = 5_000;
/** How long its answers take, ms: it reads its configuration when it likes, and a lock is a process. */
const TAKES = { answer: 10, raise: 1_500, lock: 200 };

/** How the simulated node shuts down: pods have 8 s, those of priority 100 and more 6 s, critical ones 4 s. */
export const SHUTDOWN_CONFIG = {
  shutdownGracePeriodByPodPriority: [
    { priority: 0, shutdownGracePeriodSeconds: 8 },
    { priority: 100, shutdownGracePeriodSeconds: 6 },
    { priority: 2_000_000_000, shutdownGracePeriodSeconds: 4 },
  ],
};

interface Listener {
  owner: Owner;
  hearer: LogindHearer;
}

interface Held {
  owner: Owner;
  onLost: (why: string) => void;
}

/** logind of the simulated machine. */
export class LogindOfWorld {
  private readonly time: VirtualTime;
  private readonly faults: FaultClock;
  private readonly tell: (fact: Fact) => void;
  private readonly listeners = new Set<Listener>();
  private readonly locks = new Set<Held>();
  private delayMs = DEFAULT_DELAY_MS;
  private preparing = false;

  constructor(time: VirtualTime, faults: FaultClock, tell: (fact: Fact) => void) {
    this.time = time;
    this.faults = faults;
    this.tell = tell;
  }

  /** Lets it be away, and shutdowns come; `goDown`: the machine does. */
  start(goDown: () => void): void {
    const at = (ms: number, action: () => void): void => void this.time.after(ms, this.time.world, action, false);
    for (const fault of this.faults.all('logind')) {
      if (fault.how === 'away') at(fault.from + 1, () => this.vanish(fault));
      if (fault.how === 'drops') at(fault.from + 1, () => this.drop(fault));
    }
    for (const fault of this.faults.all('shutdown')) {
      at(fault.from, () => {
        this.faults.count(fault);
        this.prepare(true);
      });
      // Regular looks see something meanwhile.
      for (let ms = 500; ms < fault.for; ms += 500) at(fault.from + ms, () => this.time.busy());
      at(fault.from + fault.for, () => {
        if (fault.reboot) {
          goDown();
          this.boot();
        } else this.prepare(false);
      });
    }
  }

  /** As one life of the agent has it. */
  client(owner: Owner): LogindEdge {
    return {
      open: (hearer) => this.open(owner, hearer),
      inhibit: (onLost) => this.inhibit(owner, onLost),
    };
  }

  /** Somebody died: what he held is given back. */
  hangUp(owner: Owner): void {
    for (const each of this.listeners) if (each.owner === owner) this.listeners.delete(each);
    for (const each of this.locks) if (each.owner === owner) this.locks.delete(each);
  }

  private async open(owner: Owner, hearer: LogindHearer): Promise<LogindSession> {
    await this.after(owner, TAKES.answer);
    this.mayFail();
    const listener = { owner, hearer };
    this.listeners.add(listener);
    const ask = async <T>(ms: number, answer: () => T): Promise<T> => {
      await this.after(owner, ms);
      if (!this.listeners.has(listener)) throw new Error('the connection was closed');
      return answer();
    };
    return {
      delayMs: () => ask(TAKES.answer, () => this.delayMs),
      preparing: () => ask(TAKES.answer, () => this.preparing),
      raiseDelay: (ms) =>
        ask(TAKES.raise, () => {
          if (this.faults.strikes('logind', ({ how }) => how === 'short') !== undefined) throw new Error('EROFS');
          return (this.delayMs = ms);
        }),
      close: () => void this.listeners.delete(listener),
    };
  }

  private async inhibit(owner: Owner, onLost: (why: string) => void): Promise<InhibitorLock> {
    await this.after(owner, TAKES.lock);
    this.mayFail();
    if (this.preparing) throw new Error('The operation inhibition has been requested for is already running');
    if (this.faults.strikes('logind', ({ how }) => how === 'refuses') !== undefined) throw new Error('Access denied');
    const held = { owner, onLost };
    this.locks.add(held);
    return {
      release: () => {
        if (this.locks.delete(held)) this.tell({ f: 'logind', change: 'released' });
        return Promise.resolve();
      },
    };
  }

  private mayFail(): void {
    if (this.faults.strikes('logind', ({ how }) => how === 'away') !== undefined)
      throw new Error('connect ECONNREFUSED');
  }

  private async after(owner: Owner, ms: number): Promise<void> {
    await new Promise<void>((resolve) => void this.time.after(ms, owner, () => resolve(), false));
  }

  /** The bus is restarted: locks are descriptors, and stay. */
  private vanish(fault: ReturnType<FaultClock['all']>[number]): void {
    this.faults.count(fault);
    const all = [...this.listeners];
    this.listeners.clear();
    for (const { owner, hearer } of all) this.call(owner, () => hearer.onLost('the connection was closed'));
  }

  private drop(fault: ReturnType<FaultClock['all']>[number]): void {
    this.faults.count(fault);
    const all = [...this.locks];
    this.locks.clear();
    for (const { owner, onLost } of all) this.call(owner, () => onLost('systemd-inhibit ended (SIGKILL)'));
  }

  private prepare(active: boolean): void {
    this.time.busy();
    this.preparing = active;
    this.tell({ f: 'logind', change: active ? 'prepare' : 'cancel' });
    for (const { owner, hearer } of [...this.listeners]) this.call(owner, () => hearer.onPrepare(active));
  }

  private boot(): void {
    this.preparing = false;
    this.listeners.clear();
    this.locks.clear();
  }

  private call(owner: Owner, action: () => void): void {
    this.time.after(1, owner, action, false);
  }
}
