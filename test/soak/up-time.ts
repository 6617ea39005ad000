import type { Victim } from './schedule.ts';

/** A time in which a part was away; `to` is null while it still is. Both ms since the epoch. */
interface Outage {
  victim: Victim;
  from: number;
  to: number | null;
}

/**
 * What the node had to work with: limits of time are limits of the time in which all of its parts were there. A pod that is
 * deleted while the API server is away cannot be stopped before it is back. Pure: it is told when parts went and came.
 */
export class UpTime {
  private readonly outages: Outage[] = [];

  /** A part is killed now. */
  down(victim: Victim, at: number): void {
    this.outages.push({ victim, from: at, to: null });
  }

  /** It is back and has had time to find the others. */
  up(victim: Victim, at: number): void {
    for (const outage of this.outages) if (outage.victim === victim && outage.to === null) outage.to = at;
  }

  /** How long all parts were there between two moments, ms. */
  between(from: number, to: number): number {
    let up = 0;
    let at = from;
    const cut = this.outages
      .map((o) => ({ from: Math.max(from, o.from), to: Math.min(to, o.to ?? to) }))
      .filter((o) => o.to > o.from)
      .sort((a, b) => a.from - b.from);
    for (const { from: begin, to: end } of cut) {
      if (begin > at) up += begin - at;
      at = Math.max(at, end);
    }
    return up + Math.max(0, to - at);
  }

  /** Was this part away at some moment between these two? */
  away(victim: Victim, from: number, to: number): boolean {
    return this.outages.some((o) => o.victim === victim && o.from <= to && (o.to ?? to) >= from);
  }

  /** Number of outages and the longest one of a part, ms. */
  longest(victim: Victim): number {
    return Math.max(0, ...this.outages.flatMap((o) => (o.victim === victim && o.to !== null ? [o.to - o.from] : [])));
  }
}
