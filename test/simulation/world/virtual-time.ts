import { hashOf } from './random.ts';
import { TimerHeap } from './timer-heap.ts';

/** Somebody whose timers end with him: an agent, a worker of it, the runtime, the API server. */
export interface Owner {
  readonly name: string;
  alive: boolean;
  /** What it does changes nothing that regular looks could see, unless {@link VirtualTime.busy} is called meanwhile. */
  readonly quiet?: boolean;
}

/** A timer; callers of `setTimeout` get it as their handle. */
class Entry {
  at: number;
  tie: number;
  seq: number;
  readonly owner: Owner;
  /** Nothing but a regular look at a world that may not have changed. */
  readonly tick: boolean;
  /** Work that follows from work which changed nothing: regular looks need not come after it. */
  readonly quiet: boolean;
  /** Ms between two calls of an interval, 0 for a timer. */
  readonly every: number;
  fn: () => void;
  gone = false;

  constructor(
    place: { at: number; tie: number; seq: number },
    owner: Owner,
    fn: () => void,
    every: number,
    kind: { tick: boolean; quiet: boolean },
  ) {
    this.at = place.at;
    this.tie = place.tie;
    this.seq = place.seq;
    this.owner = owner;
    this.fn = fn;
    this.every = every;
    this.tick = kind.tick;
    this.quiet = kind.quiet;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

/** The first moment, ms since the epoch: 2026-01-01T00:00:00Z. */
export const EPOCH = Date.UTC(2026, 0, 1);
/** Nothing but ticks for so long: the next ones will see nothing either, ms. */
const SETTLED_MS = 2_100;
/** A jump ends so long before the next event, ms. */
const BEFORE_NEXT_MS = 50;
/** More events than this in one ms are a busy loop. */
const MOST_AT_ONCE = 20_000;

const real = {
  Date: globalThis.Date,
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  setImmediate: globalThis.setImmediate,
  clearTimeout: globalThis.clearTimeout,
  clearInterval: globalThis.clearInterval,
  clearImmediate: globalThis.clearImmediate,
  performanceNow: globalThis.performance.now,
  random: Math.random,
  abort: AbortController.prototype.abort,
};

/** One for all: making an error with its stack costs more than what is aborted. */
const aborted = new DOMException('This operation was aborted', 'AbortError');

const nothing = (): void => undefined;

/** Runs what `nextTick` and promises have queued, until nothing is left; Node's own drain, without a turn of the loop. */
const drain = (process as unknown as { _tickCallback: () => void })._tickCallback;

/**
 * One thread's time, simulated: timers fire in order of their time, those of one owner at one time in their order, those
 * of several owners in an order that the seed draws. After each, all microtasks run.
 */
export class VirtualTime {
  /** Ms since the start; never goes back. */
  now = 0;
  /** What the wall clock is ahead of {@link now}, ms; clock jumps change it. */
  wallOffset = EPOCH;
  /** Events that were run. */
  events = 0;
  /** Ms that were jumped over. */
  jumped = 0;
  /** Jump over times in which only ticks would happen. */
  jumps = true;
  /** Errors have stacks (`SIM_STACKS=1`), for whoever looks for where something was thrown. */
  stacks = false;
  /** No jump beyond it; asked before each. */
  horizon: () => number = () => Infinity;
  /** Told of an error that nobody caught, which would have ended its owner. */
  onError: (owner: Owner, error: unknown) => void = (_owner, error) => {
    throw error;
  };
  /** After each event. */
  afterEvent: () => void = () => undefined;
  readonly world: Owner = { name: 'world', alive: true };
  private readonly work = new TimerHeap<Entry>();
  private readonly ticks = new TimerHeap<Entry>();
  private readonly seed: number;
  private currentOwner: Owner = this.world;
  private currentTick = false;
  private currentQuiet = false;
  private seq = 0;
  private lastWork = 0;
  /** Between a jump and the event that it led to regular looks go on. */
  private jumpedAlready = false;
  private stopped = false;

  constructor(seed: number) {
    this.seed = seed;
  }

  /** Ms since the epoch as the node's clock shows it. */
  wall(): number {
    return this.now + this.wallOffset;
  }

  /** Who is at work. */
  get owner(): Owner {
    return this.currentOwner;
  }

  /** Is it only a regular look that is under way? */
  get ticking(): boolean {
    return this.currentTick;
  }

  /** Is it work of which nothing has come so far? */
  get quiet(): boolean {
    return this.currentQuiet;
  }

  /** Something happens that regular looks may see: what follows from it is no mere look either. */
  busy(): void {
    this.currentTick = false;
    this.currentQuiet = false;
    this.lastWork = this.now;
  }

  /** Does it as another owner. */
  as<T>(owner: Owner, tick: boolean, action: () => T): T {
    const { currentOwner, currentTick } = this;
    this.currentOwner = owner;
    this.currentTick = tick;
    try {
      return action();
    } finally {
      this.currentOwner = currentOwner;
      this.currentTick = currentTick;
    }
  }

  /** Calls it after `ms`, unless its owner has gone by then. */
  after(ms: number, owner: Owner, fn: () => void, tick = this.currentTick): Entry {
    return this.add(ms, owner, fn, 0, tick);
  }

  cancel(entry: unknown): void {
    if (!(entry instanceof Entry)) return;
    entry.gone = true;
    // What it would have done is not kept in memory until its time comes.
    entry.fn = nothing;
  }

  /** Ends {@link run} after this event. */
  stop(): void {
    this.stopped = true;
  }

  /** Runs until `until` (ms since the start) or until {@link stop}. To be called with the globals in place. */
  run(until: number): void {
    checkDrain();
    let atOnce = 0;
    this.stopped = false;
    while (!this.stopped) {
      const entry = this.next(until);
      if (entry === undefined) {
        this.now = Math.max(this.now, until);
        return;
      }
      if (entry.at > this.now) {
        this.now = entry.at;
        atOnce = 0;
      } else if (++atOnce > MOST_AT_ONCE) throw new Error(`a busy loop of ${entry.owner.name} at ${this.now} ms`);
      this.fire(entry);
    }
  }

  /** Puts virtual time in the place of the globals until the returned function is called. */
  install(random: () => number): () => void {
    const time = { wall: () => this.wall(), add: this.add.bind(this), cancel: (entry: unknown) => this.cancel(entry) };
    class VirtualDate extends real.Date {
      constructor(...args: unknown[]) {
        if (args.length === 0) super(time.wall());
        else super(...(args as [number]));
      }
      static override now(): number {
        return time.wall();
      }
    }
    const handle = (entry: Entry) => entry as unknown as NodeJS.Timeout;
    const patched = {
      Date: VirtualDate,
      setTimeout: (fn: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        handle(time.add(asNode(ms), this.owner, () => fn(...args), 0, this.ticking)),
      setInterval: (fn: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        handle(time.add(asNode(ms), this.owner, () => fn(...args), asNode(ms), this.ticking)),
      setImmediate: (fn: (...args: unknown[]) => void, ...args: unknown[]) =>
        handle(time.add(0, this.owner, () => fn(...args), 0, this.ticking)),
      clearTimeout: (entry: unknown) => time.cancel(entry),
      clearInterval: (entry: unknown) => time.cancel(entry),
      clearImmediate: (entry: unknown) => time.cancel(entry),
    };
    Object.assign(globalThis, patched);
    globalThis.performance.now = () => this.now;
    Math.random = random;
    const { stackTraceLimit } = Error;
    // Stacks cost more than most of what fails or is cut off here, and nobody reads them unless a rule was broken.
    if (!this.stacks) Error.stackTraceLimit = 0;
    AbortController.prototype.abort = function (reason: unknown = aborted) {
      real.abort.call(this, reason);
    };
    const unhandled = (error: unknown) => this.onError(this.owner, error);
    process.on('unhandledRejection', unhandled);
    // What a microtask throws goes nowhere else.
    process.on('uncaughtException', unhandled);
    return () => {
      const { performanceNow, random: ownRandom, abort, ...globals } = real;
      Object.assign(globalThis, globals);
      globalThis.performance.now = performanceNow;
      Math.random = ownRandom;
      Error.stackTraceLimit = stackTraceLimit;
      AbortController.prototype.abort = abort;
      process.off('unhandledRejection', unhandled);
      process.off('uncaughtException', unhandled);
    };
  }

  private add(ms: number, owner: Owner, fn: () => void, every: number, tick: boolean): Entry {
    const at = this.now + Math.max(0, Math.round(Number.isFinite(ms) ? ms : 0));
    const kind = { tick, quiet: !tick && this.currentQuiet };
    const entry = new Entry({ at, tie: this.tieOf(owner, at), seq: this.seq++ }, owner, fn, every, kind);
    (tick ? this.ticks : this.work).push(entry);
    return entry;
  }

  private tieOf(owner: Owner, at: number): number {
    return hashOf(owner.name, this.seed ^ at);
  }

  private next(until: number): Entry | undefined {
    const work = alive(this.work);
    const tick = alive(this.ticks);
    if (tick === undefined || (work !== undefined && work.at <= tick.at)) {
      if (work === undefined || work.at > until) return undefined;
      return this.work.pop();
    }
    if (tick.at > until) return undefined;
    if (this.jumps && !this.jumpedAlready && this.now - this.lastWork >= SETTLED_MS) {
      const end = Math.min(work?.at ?? Infinity, until, this.horizon()) - BEFORE_NEXT_MS;
      const by = Math.floor(end - tick.at);
      if (by > BEFORE_NEXT_MS) {
        this.ticks.shift(by);
        this.now += by;
        this.jumped += by;
        this.jumpedAlready = true;
        return this.next(until);
      }
    }
    return this.ticks.pop();
  }

  private fire(entry: Entry): void {
    if (entry.gone || !entry.owner.alive) return;
    this.events++;
    this.currentOwner = entry.owner;
    this.currentTick = entry.tick;
    this.currentQuiet = entry.quiet || (!entry.tick && entry.owner.quiet === true);
    if (!entry.tick) {
      this.jumpedAlready = false;
      if (!this.currentQuiet) this.lastWork = this.now;
    }
    if (entry.every > 0) {
      entry.at = this.now + entry.every;
      entry.tie = this.tieOf(entry.owner, entry.at);
      entry.seq = this.seq++;
      (entry.tick ? this.ticks : this.work).push(entry);
    } else entry.gone = true;
    try {
      entry.fn();
    } catch (error) {
      this.onError(entry.owner, error);
    }
    drain();
    this.afterEvent();
    this.currentOwner = this.world;
    this.currentTick = false;
    this.currentQuiet = false;
  }
}

function alive(heap: TimerHeap<Entry>): Entry | undefined {
  for (;;) {
    const first = heap.peek();
    if (first === undefined || (!first.gone && first.owner.alive)) return first;
    heap.pop();
  }
}

/** A delay as Node's timers take it: at least 1 ms, 1 ms when it is too long, and never early. */
function asNode(ms: number): number {
  return ms >= 1 && ms <= 2 ** 31 - 1 ? Math.ceil(ms) : 1;
}

/** Within a microtask (the top of a module, what follows an `await`) nothing can be drained. */
function checkDrain(): void {
  let drained = false;
  void Promise.resolve().then(() => (drained = true));
  drain();
  if (!drained) throw new Error('virtual time runs only in a turn of the event loop of its own: see ownTurn');
}

/** Does it in a turn of the event loop of its own, as virtual time needs it. */
export function ownTurn<T>(action: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    real.setImmediate(() => {
      try {
        resolve(action());
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}
