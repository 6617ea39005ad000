import type { Fault } from '../draw/plan.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

type Kind = Fault['kind'];
type Of<K extends Kind> = Extract<Fault, { kind: K }>;

/** Which faults hold now; counts each that strikes. */
export class FaultClock {
  /** How often each kind struck, as `kind` or `kind.how`. */
  readonly struck = new Map<string, number>();
  /** When a fault was last in force, ms since the start. */
  lastActive = -Infinity;
  private readonly faults: readonly Fault[];
  private readonly time: VirtualTime;
  private readonly random: Random;
  private readonly active = new Set<Fault>();

  constructor(faults: readonly Fault[], time: VirtualTime, random: Random) {
    this.faults = faults;
    this.time = time;
    this.random = random;
  }

  /** Lets the times of faults begin and end by themselves. */
  start(): void {
    for (const fault of this.faults) {
      if (!('for' in fault)) continue;
      this.time.after(fault.from, this.time.world, () => this.active.add(fault), false);
      const end = (): void => {
        this.active.delete(fault);
        this.lastActive = this.time.now;
      };
      this.time.after(fault.from + fault.for, this.time.world, end, false);
    }
  }

  /** All of a kind, to be scheduled by whoever carries them out. */
  all<K extends Kind>(kind: K): Of<K>[] {
    return this.faults.filter((fault): fault is Of<K> => fault.kind === kind);
  }

  /** A fault that holds now and is chosen by its chance. */
  strikes<K extends Kind>(kind: K, fits: (fault: Of<K>) => boolean = () => true): Of<K> | undefined {
    if (this.active.size === 0) return undefined;
    for (const fault of this.active) {
      if (fault.kind !== kind) continue;
      const one = fault as Of<K>;
      if (!fits(one)) continue;
      if ('chance' in one && !this.random.chance(one.chance)) continue;
      this.count(one);
      return one;
    }
    return undefined;
  }

  /** Was anything wrong since then, or is it now? */
  calmSince(at: number): boolean {
    return this.active.size === 0 && this.lastActive < at;
  }

  get any(): boolean {
    return this.active.size > 0;
  }

  count(fault: Fault): void {
    const name = 'how' in fault ? `${fault.kind}.${fault.how}` : fault.kind;
    this.struck.set(name, (this.struck.get(name) ?? 0) + 1);
    this.lastActive = this.time.now;
    this.time.busy();
  }
}
